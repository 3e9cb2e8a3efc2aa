// talus scale: a model of a subject, from markers of a pose in which the subject stood still.
#include "commands/commands.h"
#include "commands/set_up.h"
#include "commands/tool_options.h"
#include "model/model.h"
#include "text/stream.h"

#include <stdlib.h>
#include <string.h>

// The first `n` letters of a text as a text of its own; the caller frees it.
static char *cut(const char *text, size_t n)
{
    return cli_format("%.*s", (int)n, text);
}

// The words of a text with commas between them as they stand in a set-up: with blanks; the caller
// frees it.
static char *words_of(const char *text, size_t n)
{
    char *const out = cut(text, n);
    for (char *c = out; *c != 0; ++c) {
        if (*c == ',') *c = ' ';
    }
    return out;
}

// An element `<tag>...</tag>` for each word of a list, around a property.
static char *for_each_word(char *setup, const char *list, const char *tag, const char *inside)
{
    for (const char *at = list; *at != 0;) {
        const size_t n = strcspn(at, " ");
        char *const word = cut(at, n);
        char *const name = set_up_escaped(word);
        if (n > 0) {
            setup =
                set_up_append(setup, cli_format("<%s name='%s'>%s</%s>", tag, name, inside, tag));
        }
        free(name);
        free(word);
        at += n + (at[n] != 0);
    }
    return setup;
}

// One measurement: BODIES[:AXES]=MARKER,MARKER[+MARKER,MARKER...], as <Measurement> with its pairs
// of markers and its bodies.
static int add_measurement(const cli_args *args, const char *said, char **setup)
{
    const char *pairs = NULL;
    char *const left = cli_split(said, &pairs);
    const char *const colon = left != NULL ? strchr(left, ':') : NULL;
    if (left == NULL || left[0] == 0) {
        free(left);
        return cli_fail(args, CLI_USAGE,
                        "--measure needs BODY=MARKER,MARKER, or lists as in "
                        "femur_r,femur_l=RHip,RKnee+LHip,LKnee, not '%s'.",
                        said);
    }
    char *const bodies = words_of(left, colon != NULL ? (size_t)(colon - left) : strlen(left));
    char *const axes = set_up_escaped(colon != NULL ? colon + 1 : "XYZ");
    char *const axes_element = cli_format("<axes>%s</axes>", axes);
    char *text = cli_copy("<Measurement name='measurement'><MarkerPairSet><objects>");
    int code = CLI_OK;
    for (const char *at = pairs; *at != 0 && code == CLI_OK;) {
        const size_t n = strcspn(at, "+");
        char *const pair = words_of(at, n), *const escaped = set_up_escaped(pair);
        if (memchr(at, ',', n) == NULL) {
            code = cli_fail(args, CLI_USAGE,
                            "--measure: '%s' is not two markers separated by a comma.", pair);
        }
        text = set_up_append(text,
                             cli_format("<MarkerPair><markers>%s</markers></MarkerPair>", escaped));
        free(escaped);
        free(pair);
        at += n + (at[n] != 0);
    }
    text = set_up_append(text, cli_copy("</objects></MarkerPairSet><BodyScaleSet><objects>"));
    text = for_each_word(text, bodies, "BodyScale", axes_element);
    text = set_up_append(text, cli_copy("</objects></BodyScaleSet></Measurement>"));
    *setup = set_up_append(*setup, text);
    free(axes_element);
    free(axes);
    free(bodies);
    free(left);
    return code;
}

// Factors by hand: BODIES=FACTOR, or three of them with commas.
static int add_factors(const cli_args *args, const char *said, char **setup)
{
    const char *value = NULL;
    char *const left = cli_split(said, &value);
    if (left == NULL || left[0] == 0) {
        free(left);
        return cli_fail(args, CLI_USAGE, "--factor needs BODY=NUMBER or BODY=X,Y,Z, not '%s'.",
                        said);
    }
    char *const numbers = words_of(value, strlen(value));
    char *const one = set_up_escaped(numbers);
    char *const all =
        strchr(one, ' ') != NULL ? cli_copy(one) : cli_format("%s %s %s", one, one, one);
    char *const bodies = words_of(left, strlen(left));
    for (const char *at = bodies; *at != 0;) {
        const size_t n = strcspn(at, " ");
        char *const body = cut(at, n), *const name = set_up_escaped(body);
        *setup = set_up_append(
            *setup,
            cli_format("<Scale><scales>%s</scales><segment>%s</segment></Scale>", all, name));
        free(name);
        free(body);
        at += n + (at[n] != 0);
    }
    free(bodies);
    free(all);
    free(one);
    free(numbers);
    free(left);
    return CLI_OK;
}

// A coordinate that is held while markers are placed: COORDINATE or COORDINATE=VALUE.
static char *with_hold(char *setup, const char *said)
{
    const char *value = NULL;
    char *const left = cli_split(said, &value);
    char *const name = set_up_escaped(left != NULL ? left : said);
    char *const text = set_up_escaped(left != NULL ? value : "0");
    setup = set_up_append(
        setup, cli_format("<IKCoordinateTask name='%s'><weight>1000</weight><value_type>%s"
                          "</value_type><value>%s</value></IKCoordinateTask>",
                          name, left != NULL ? "manual_value" : "default_value", text));
    free(text);
    free(name);
    free(left);
    return setup;
}

// <ModelScaler>: measurements first, then factors by hand, which may replace them.
static int add_scaler(const cli_args *args, const char *file, char **setup)
{
    const char *const *measures = NULL, *const *factors = NULL;
    const int num_measures = cli_list(args, "measure", &measures);
    const int num_factors = cli_list(args, "factor", &factors);
    int code = CLI_OK;
    *setup = set_up_append(*setup, cli_format("<ModelScaler><scaling_order>%s</scaling_order>"
                                              "<MeasurementSet><objects>",
                                              "measurements manualScale"));
    for (int i = 0; i < num_measures && code == CLI_OK; ++i) {
        code = add_measurement(args, measures[i], setup);
    }
    *setup = set_up_append(*setup, cli_copy("</objects></MeasurementSet><ScaleSet><objects>"));
    for (int i = 0; i < num_factors && code == CLI_OK; ++i) {
        code = add_factors(args, factors[i], setup);
    }
    *setup = set_up_append(*setup, cli_copy("</objects></ScaleSet>"));
    *setup = set_up_with(*setup, "marker_file", file);
    if (cli_flag(args, "keep-distribution")) {
        *setup = set_up_with(*setup, "preserve_mass_distribution", "true");
    }
    *setup = set_up_append(*setup, cli_copy("<output_model_file>subject_scaled.osim"
                                            "</output_model_file></ModelScaler>"));
    return code;
}

// <MarkerPlacer>: all markers that the file has, each with weight one, and coordinates to hold.
static char *with_placer(const cli_args *args, const char *file, char *setup)
{
    const char *const *holds = NULL;
    const int n = cli_list(args, "hold", &holds);
    setup = set_up_append(setup, cli_copy("<MarkerPlacer><IKTaskSet><objects>"));
    for (int i = 0; i < n; ++i) {
        setup = with_hold(setup, holds[i]);
    }
    setup = set_up_append(setup, cli_copy("</objects></IKTaskSet>"));
    setup = set_up_with(setup, "marker_file", file);
    return set_up_append(setup, cli_copy("<output_motion_file>subject_pose.mot</output_motion_file>"
                                         "<output_model_file>subject.osim</output_model_file>"
                                         "</MarkerPlacer>"));
}

static int run(const cli_args *args)
{
    if (stream_is_input(args->files[0]) || stream_is_input(args->files[1])) {
        return cli_fail(args, CLI_USAGE, "scale reads files, not standard input.");
    }
    const char *const model = args->files[0], *const file = args->files[1];
    char *setup = cli_copy("<OpenSimDocument Version='40000'><ScaleTool name='subject'>");
    if (cli_is_given(args, "mass")) setup = set_up_with(setup, "mass", cli_text(args, "mass"));
    setup = set_up_append(setup, cli_copy("<GenericModelMaker>"));
    setup = set_up_with(setup, "model_file", model);
    if (cli_is_given(args, "markers")) {
        setup = set_up_with(setup, "marker_set_file", cli_text(args, "markers"));
    }
    setup = set_up_append(setup, cli_copy("</GenericModelMaker>"));
    int code = add_scaler(args, file, &setup);
    if (!cli_flag(args, "sizes-only")) setup = with_placer(args, file, setup);
    setup = set_up_append(setup, cli_copy("</ScaleTool></OpenSimDocument>"));
    if (code == CLI_OK) code = set_up_run(args, "options", setup);
    free(setup);
    return code;
}

static const cli_option options[] = {
    {.name = "measure",
     .kind = CLI_LIST,
     .value = "BODIES=PAIRS",
     .help = "scale these bodies by the measured distance of two markers, divided by that in the "
             "model: femur_r,femur_l=RHip,RKnee+LHip,LKnee takes the mean of two pairs; "
             "femur_r:Y=... scales only along y; can be repeated",
     .is_setting = true},
    {.name = "factor",
     .kind = CLI_LIST,
     .value = "BODIES=FACTOR",
     .help = "scale these bodies by this factor, or by three of them, X,Y,Z; can be repeated",
     .is_setting = true},
    {.name = "mass",
     .kind = CLI_TEXT,
     .value = "KG",
     .help = "mass of the subject; if not given, that of the scaled model",
     .is_setting = true},
    {.name = "keep-distribution",
     .kind = CLI_FLAG,
     .help = "keep the ratios of the masses of the bodies, whatever their sizes",
     .is_setting = true},
    {.name = "markers",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "a <MarkerSet> file with markers for the model",
     .is_setting = true},
    {.name = "hold",
     .kind = CLI_LIST,
     .value = "COORDINATE[=VALUE]",
     .help = "when markers are placed, hold this coordinate at VALUE [rad or m], or at its "
             "default; can be repeated",
     .is_setting = true},
    {.name = "sizes-only",
     .kind = CLI_FLAG,
     .help = "only scale; do not move markers on their bodies",
     .is_setting = true},
    TOOL_REST,
    {0}};

const cli_command cmd_scale = {
    .name = "scale",
    .group = CLI_OPENSIM,
    .files = "MODEL MARKERS",
    .min_files = 2,
    .max_files = 2,
    .summary = "scale a model to a subject",
    .about =
        "MODEL is an .osim file, MARKERS a .trc or .c3d file of the subject standing still; the "
        "means over its frames are used. Writes subject_scaled.osim with the sizes of the "
        "subject, and subject.osim, in which the markers are also moved to where they were "
        "measured.",
    .common = CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START,
    .options = options,
    .example = "talus scale leg.osim standing.trc --measure thigh=HIP,KNEE -o me",
    .example_help = "scale the thigh to its measured length",
    .run = run};
