"""The notebooks run from the first cell to the last, and show what they should."""
import asyncio
import pathlib

import pytest

nbformat = pytest.importorskip("nbformat")
client = pytest.importorskip("nbclient")
HERE = pathlib.Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((HERE / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path):
    asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())
    book = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "stored without outputs"
    client.NotebookClient(book, timeout=300, kernel_name="python3",
                          resources={"metadata": {"path": str(HERE / "notebooks")}}).execute()
    shown = [output["data"] for cell in book.cells if cell.cell_type == "code"
             for output in cell.outputs if "data" in output]
    pictures = [data["image/svg+xml"] for data in shown if "image/svg+xml" in data]
    assert pictures and all(one.startswith("<svg") for one in pictures)
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert not pages or any("<iframe sandbox" in page for page in pages)
