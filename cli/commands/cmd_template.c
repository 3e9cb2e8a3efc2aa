// talus template: a first model file.
#include "commands/commands.h"
#include "text/bytes.h"
#include "text/report.h"
#include "text/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const lines[] = {
    "<!-- A double pendulum. Run it:  talus simulate mine.talus -o swing.sto",
    "     and draw it:               talus plot swing.sto -c upper.q0,lower.q0 -o swing.svg",
    "     doc/model_file.md lists all elements of a model file. -->",
    "<talus version=\"1\" name=\"double pendulum\" units=\"deg\">",
    "  <!-- a number with a name; talus simulate mine.talus -s length=0.7 changes it -->",
    "  <param name=\"length\" value=\"0.5\"/>",
    "",
    "  <bodies>",
    "    <!-- A body is named after the joint that connects it to its parent: pin, slider, ball, free, ...",
    "         mass [kg], com: mass center from the body's origin [m], q: where it begins (in units). -->",
    "    <pin name=\"upper\" mass=\"1\" com=\"0 -$length 0\" q=\"60\"/>",
    "    <!-- frame: where the joint is on the parent [m]; solid: inertia of a simple shape -->",
    "    <pin name=\"lower\" parent=\"upper\" frame=\"0 -$length 0\" mass=\"1\" com=\"0 -$length 0\"",
    "         solid=\"sphere 0.05\"/>",
    "  </bodies>",
    "",
    "  <!-- Close loops and tie things together here:",
    "  <constraints>",
    "    <rod name=\"tie\" body1=\"ground\" station1=\"1 0 0\" body2=\"lower\" length=\"1.2\"/>",
    "  </constraints> -->",
    "",
    "  <forces>",
    "    <gravity g=\"0 -9.81 0\"/>",
    "    <mobility_damper name=\"bearing\" mobility=\"upper\" damping=\"0.01\"/>",
    "  </forces>",
    "</talus>",
};

// All lines; owned by the caller.
static char *write_template(void)
{
    cli_bytes text = {0};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        bytes_print(&text, "%s\n", lines[i]);
    }
    return text.data;
}

// As JSON: where the model is, or else the model itself.
static void print_report(const cli_args *args, const char *path, const char *text)
{
    report r;
    report_begin(&r, args);
    report_text(&r, path != NULL ? "result" : "model", path != NULL ? path : text);
    report_end(&r);
}

static int run(const cli_args *args)
{
    const bool has_report = cli_flag(args, "json") && !stream_is_output(args);
    const char *const path = stream_out_path(args);
    if (path != NULL && access(path, F_OK) == 0) { // never overwrite a file
        return cli_fail(args, CLI_BAD_FILE, "%s exists already.", path);
    }
    char *const text = write_template();
    int code = CLI_OK;
    if (path != NULL || !has_report) code = stream_write(args, path, text, strlen(text));
    if (code == CLI_OK && has_report) print_report(args, path, text);
    free(text);
    return code;
}

const cli_command cmd_template = {
    .name = "template",
    .group = CLI_MODELS,
    .files = "",
    .min_files = 0,
    .max_files = 0,
    .summary = "write a first model file",
    .about = "A double pendulum with comments. Without -o it is written to standard output.",
    .common = CLI_JSON | CLI_QUIET | CLI_OUT | CLI_AGAIN,
    .example = "talus template -o mine.talus",
    .example_help = "then edit mine.talus",
    .run = run};
