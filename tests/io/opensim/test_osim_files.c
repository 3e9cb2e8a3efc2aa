// io/src/opensim/: sets of models in files of their own.
#include "opensim/osim_support.h"
#include "opensim/round_trip.h"

#define SET_FILE(inside) "<OpenSimDocument Version='20000'>" inside "</OpenSimDocument>"

// A folder with files in it, which are taken away at the end.
typedef struct folder {
    char path[32], file[4][80];
    int num;
} folder;

static folder make_folder(void)
{
    folder it = {.path = "osim_files_XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(it.path));
    return it;
}

static const char *put_file(folder *it, const char *name, const char *text)
{
    ck_assert_int_lt(it->num, 4);
    char *path = it->file[it->num++];
    char folder_path[32];
    (void)snprintf(folder_path, sizeof folder_path, "%s", it->path);
    (void)snprintf(path, sizeof it->file[0], "%s/%s", folder_path, name);
    test_write_file(path, text);
    return path;
}

static void remove_folder(const folder *it)
{
    for (int i = 0; i < it->num; ++i) {
        (void)remove(it->file[i]);
    }
    (void)rmdir(it->path);
}

// Cut the first <tag>...</tag> out of a text, into a text of its own.
static void cut_out(char *text, const char *tag, char *out, size_t size)
{
    char open[64], close[64], instead[120];
    (void)snprintf(open, sizeof open, "<%s>", tag);
    (void)snprintf(close, sizeof close, "</%s>", tag);
    char *from = strstr(text, open), *to = strstr(text, close);
    ck_assert(from != NULL && to != NULL);
    to += strlen(close);
    (void)snprintf(out, size, "%.*s", (int)(to - from), from);
    const int n = snprintf(instead, sizeof instead, "<%s file='%s.xml'/>", tag, tag);
    memcpy(from, instead, (size_t)n);
    memmove(from + n, to, strlen(to) + 1);
}

START_TEST(a_leg_in_three_files_is_the_leg_in_one)
{
    static char text[60000], set[60000];
    static const char *const tags[] = {"BodySet", "ForceSet"};
    FILE *in = fopen(CORPUS "leg_30000.osim", "rb");
    ck_assert_ptr_nonnull(in);
    text[fread(text, 1, sizeof text - 1000, in)] = '\0';
    (void)fclose(in);
    tal_model whole = read_leg(CORPUS "leg_30000.osim");
    folder at = make_folder();
    for (int i = 0; i < 2; ++i) {
        char name[40];
        cut_out(text, tags[i], set, sizeof set);
        (void)snprintf(name, sizeof name, "%s.xml", tags[i]);
        (void)put_file(&at, name, set); // its root is the set
    }
    tal_model split = read_leg(put_file(&at, "leg.osim", text));
    ck_assert_double_eq(round_trip_difference(&whole, &split, 5), 0.0);
    ck_assert_int_eq(split.num_markers, whole.num_markers);
    tal_model again; // it is written as one file
    ck_assert_int_eq(round_trip(&split, &again, NULL), TAL_OK);
    ck_assert_double_le(round_trip_difference(&whole, &again, 5), 1e-12);
    tal_model_destroy(&again);
    tal_model_destroy(&split);
    tal_model_destroy(&whole);
    remove_folder(&at);
}

END_TEST

// Version 1: the sets of the engine; an OpenSimDocument in the file, with defaults for its bodies.
START_TEST(sets_of_an_engine_and_defaults_of_their_file_are_read)
{
    folder at = make_folder();
    (void)put_file(&at, "bodies.xml",
                   SET_FILE("<defaults><Body><mass>3.5</mass></Body></defaults><BodySet><objects>"
                            "<Body name='b'/></objects></BodySet>"));
    const char *path =
        put_file(&at, "m.osim",
                 "<OpenSimDocument Version='10500'><Model name='m'><DynamicsEngine><SimbodyEngine>"
                 "<BodySet file='bodies.xml'/></SimbodyEngine></DynamicsEngine></Model>"
                 "</OpenSimDocument>");
    tal_model model;
    ck_assert_int_eq(tal_osim_read_file(path, NULL, &model, NULL), TAL_OK);
    const tal_body_ix b = tal_matter_find_body(model.matter, "b");
    ck_assert_double_eq(tal_body_mass_props(model.matter, model.state, b).mass, 3.5);
    tal_model_destroy(&model);
    remove_folder(&at);
}

END_TEST

// What reading a model in a folder says, with the folder left out.
static void assert_file_says(const folder *at, const char *path, const char *expected)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    char said[4000], bare[4000] = "";
    const tal_status st = tal_osim_read_file(path, NULL, &model, found);
    ck_assert((st == TAL_OK) == (tal_diagnostics_num_errors(found) == 0));
    say_all(found, said, sizeof said);
    const size_t n = strlen(at->path);
    size_t used = 0;
    for (const char *c = said; *c != '\0' && used + 1 < sizeof bare;) {
        if (strncmp(c, at->path, n) == 0 && c[n] == '/') {
            c += n + 1;
        } else {
            bare[used++] = *c++;
        }
    }
    ck_assert_str_eq(bare, expected);
    tal_model_destroy(&model);
    tal_diagnostics_destroy(found);
}

START_TEST(what_is_wrong_in_a_file_is_said_in_its_name)
{
    folder at = make_folder();
    (void)put_file(&at, "b.xml",
                   SET_FILE("\n<BodySet><objects>\n <Body name='b'><mass>-1</mass></Body>\n <Body "
                            "name='c'><mas>1</mas></Body></objects></BodySet>"));
    (void)put_file(&at, "f.xml", SET_FILE("\n<MarkerSet/>"));
    const char *path = put_file(&at, "m.osim",
                                "<OpenSimDocument Version='20000'><Model name='m'>\n"
                                "<gravity>0 1</gravity>\n<BodySet file='b.xml'/>\n"
                                "<ForceSet file='f.xml'/>\n<MarkerSet file='none.xml'/>"
                                "</Model></OpenSimDocument>");
    assert_file_says(
        &at, path,
        "m.osim:2:1: error: <gravity>: '0 1' is not 3 finite numbers\n"
        "m.osim:5:1: error: <MarkerSet> is in the file 'none.xml', which cannot be read\n"
        "b.xml:3:2: error: <Body name=\"b\">: mass is -1: it must not be negative\n"
        "b.xml:4:17: warning: <Body> has no property 'mas' (did you mean 'mass'?)\n"
        "f.xml:2:1: error: <MarkerSet> is another kind of object; the model 'm.osim' takes its "
        "<ForceSet> from here\n"
        "none.xml: error: the file cannot be opened: No such file or directory\n");
    remove_folder(&at);
}

END_TEST

START_TEST(a_model_in_memory_has_no_files_beside_it)
{
    assert_says(DOC("20000", "<ForceSet file='f.xml'/>"),
                "m:1:50: error: <ForceSet> is in the file 'f.xml', and a model in memory has none "
                "beside it\n");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/osim_files");
    TCase *tc = tcase_create("osim_files");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, a_leg_in_three_files_is_the_leg_in_one);
    tcase_add_test(tc, sets_of_an_engine_and_defaults_of_their_file_are_read);
    tcase_add_test(tc, what_is_wrong_in_a_file_is_said_in_its_name);
    tcase_add_test(tc, a_model_in_memory_has_no_files_beside_it);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
