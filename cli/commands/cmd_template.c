// talus template: a first model file.
#include "commands/commands.h"
#include "text/report.h"
#include "text/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

// As JSON: where the model is, or else the model itself.
static void print_report(const cli_args *args, const char *path)
{
    report r;
    report_begin(&r, args);
    char *text = cli_copy("");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        char *const longer = cli_format("%s%s\n", text, lines[i]);
        free(text);
        text = longer;
    }
    report_text(&r, path != NULL ? "result" : "model", path != NULL ? path : text);
    report_end(&r);
    free(text);
}

int cmd_template(const cli_args *args)
{
    const bool has_report = cli_flag(args, "json") && !stream_is_output(args);
    const char *const path = stream_out_path(args);
    FILE *const out = path != NULL ? fopen(path, "wx") : stdout; // never overwrite a file
    if (out == NULL) {
        if (errno == EEXIST) return cli_fail(args, CLI_BAD_FILE, "%s exists already.", path);
        return cli_fail(args, CLI_BAD_FILE, "cannot write %s: %s.", path, strerror(errno));
    }
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && (path != NULL || !has_report); ++i) {
        fprintf(out, "%s\n", lines[i]);
    }
    if (path == NULL && has_report) print_report(args, path);
    if (path == NULL) return CLI_OK; // errors of standard output are reported at the end
    const bool failed = fflush(out) != 0 || ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        (void)remove(path); // it is ours, and not whole
        return cli_fail(args, CLI_BAD_FILE, "cannot write %s.", path);
    }
    if (has_report) print_report(args, path);
    return CLI_OK;
}
