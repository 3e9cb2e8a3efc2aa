// io/src/model_*.c: everything that is wrong with a file is reported, and nothing is built.
#include "talus_test.h"

#include <talus/io.h>

#include <stdio.h>
#include <stdlib.h>

// All diagnostics of a text, one per line.
static char *complaints(const char *text, tal_status expected)
{
    tal_model m;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_model_read_memory("m.talus", text, strlen(text), NULL, &m, found);
    ck_assert_int_eq(st, expected);
    ck_assert(m.system == NULL && m.state == NULL && m.matter == NULL && m.forces == NULL);
    const int n = tal_diagnostics_num(found);
    char *all = calloc((size_t)n + 1, TAL_DIAGNOSTIC_SIZE);
    for (int i = 0; i < n; ++i) {
        char line[TAL_DIAGNOSTIC_SIZE];
        (void)strcat(all, tal_diagnostic_text(tal_diagnostics_at(found, i), line));
        (void)strcat(all, "\n");
    }
    tal_diagnostics_destroy(found);
    return all;
}

START_TEST(all_errors_of_a_file_are_told_in_order)
{
    const char *text =
        "<talus version='1' units='grad'>\n"
        "<param name='k' value='1x'/>\n"
        "<param name='k' value='1'/>\n"
        "<bodies>\n"
        "<pin name='knee' rnage='0 1' mass='-1'/>\n"
        "<pin name='knee' parent='thihg' com='1 2'/>\n"
        "<pin name='thigh' parent='a'/>\n"
        "<slider name='a' parent='thigh'/>\n"
        "<pinn name='b'/>\n"
        "<ball name='c' q='1 0 0' inertia='1 1 5' mass='1'/>\n"
        "<pin frame='1 2 3 4'> hello </pin>\n"
        "</bodies>\n"
        "<forces><rod/><mobility_spring mobility='knee:3' stiffness='$kk'/></forces>\n"
        "</talus>\n";
    char *all = complaints(text, TAL_ERR_FILE);
    ck_assert_str_eq(
        all,
        "m.talus:1:20: error: <talus>: 'units' is 'grad'; it must be one of rad|deg\n"
        "m.talus:2:17: error: <param name=\"k\">: 'value' has '1x', which is not a number that a double can hold\n"
        "m.talus:3:8: error: <param name=\"k\">: 'k' is defined already\n"
        "m.talus:5:18: error: <pin name=\"knee\"> has no attribute 'rnage' (did you mean 'range'?)\n"
        "m.talus:5:30: error: <pin name=\"knee\">: 'mass' is -1; it must be zero or positive\n"
        "m.talus:6:6: error: <pin name=\"knee\">: the name 'knee' is taken by <pin> in line 5 of m.talus\n"
        "m.talus:6:18: error: <pin name=\"knee\">: there is no body 'thihg' (did you mean 'thigh'?)\n"
        "m.talus:6:33: error: <pin name=\"knee\">: 'com' has 2 numbers; 3 are needed\n"
        "m.talus:7:19: error: <pin name=\"thigh\">: its parents form a loop and do not lead to ground\n"
        "m.talus:9:1: error: there is no <pinn> in <bodies> (did you mean <pin>?)\n"
        "m.talus:10:16: error: <ball name=\"c\">: 'q' has 3 numbers; 4 are needed\n"
        "m.talus:10:26: error: <ball name=\"c\">: principal moments about the mass center 1, 1, 5: the "
        "last exceeds the sum of the others "
        "(any_inertia, on the command line --any-inertia, accepts them as published)\n"
        "m.talus:11:1: error: <pin> contains text; only elements are allowed there\n"
        "m.talus:11:6: error: <pin>: 'frame' has 4 numbers; a frame has 3 (origin), 6 (and angles) or "
        "12 (and axes)\n"
        "m.talus:13:9: error: there is no <rod> in <forces>\n"
        "m.talus:13:32: error: <mobility_spring>: 'knee' has 1 mobilities, so there is no 'knee:3'\n"
        "m.talus:13:50: error: <mobility_spring>: 'stiffness' uses '$kk', but no <param> above has "
        "that name\n");
    free(all);
}

END_TEST

typedef struct golden {
    const char *text; // what stands in <talus version='1'>; "!" before it: the whole file
    const char *part; // of the one diagnostic
} golden;

#define BODIES(x)      "<bodies>" x "</bodies>"
#define CONSTRAINTS(x) "<constraints>" x "</constraints>"
#define FORCES(x)      "<forces>" x "</forces>"
#define MEASURES(x)    "<measures>" x "</measures>"
#define STOPS(x)       "<stops>" x "</stops>"
#define UNILATERALS(x) "<unilaterals>" x "</unilaterals>"
#define MARKERS(x)     "<markers>" x "</markers>"
#define MESH(x)        FORCES("<contact>" x "</contact>")
#define CLOCK          MEASURES("<time name='t'/>")
#define FUNCTIONS(x)   "<functions>" x "</functions>"
#define MATERIALS(x)   "<materials>" x "</materials>"
#define ONE            FUNCTIONS("<constant name='one' value='1'/>")
#define ENERGY(x)      "<mobility_nonlinear_spring mobility='p'>" x "</mobility_nonlinear_spring>"
#define PIN            BODIES("<pin name='p' mass='1'/>")
#define KNEE           BODIES("<pin name='shin' mass='1'><coordinate name='knee'/></pin>")

#define ENDS     "<point body='p'/><point station='1 0 0'/>"
#define PATHS(x) PIN "<paths><path name='s'>" x "</path></paths>"

static const golden goldens[] = {
    // paths
    {PATHS("<point body='p'/>"), "contains 1 element; it needs at least 2"},
    {PATHS(ENDS "<over wrap='w'/>"), "1:"},
    {PATHS(ENDS "<over wrap='w'/>"), "'w'"},
    {PATHS(ENDS "<conditional_point coordinate='p' range='1 0'/>"),
     "path 's', point 2: its limits are 1 and 0"},
    {PATHS(ENDS "<moving_point coordinates='p'><constant value='1'/><constant value='1'/>"
                "<constant value='1'/></moving_point>"),
     "'coordinates' has 1 coordinates; 3 are needed"},
    {"<wraps><wrap_sphere radius='0'/></wraps>", "'radius' is 0"},
    {"<wraps><wrap_cylinder radius='1' side='+z'/></wraps>", "no side +z along its axis"},
    {"<wraps><wrap_torus ring_radius='1' tube_radius='2'/></wraps>",
     "the tube radius 2 must be below the ring radius 1"},
    {FORCES("<path_spring path='none' stiffness='1' rest_length='1'/>"), "'none'"},
    {"!<model/>", "1:1: error: there is no <model> at the top of a model file"},
    {"!<talus/>", "1:1: error: <talus> needs the attribute 'version'"},
    {"!<talus version='2'/>",
     "1:8: error: version '2' of the format is not known: this Talus reads version 1. Use a newer Talus, or write the file for version 1 (doc/model_file.md)"},
    {"!<talus", "this is not XML"},
    {"<bodys/>", "there is no <bodys> in <talus> (did you mean <bodies>?)"},
    {"text", "contains text"},
    {PIN "text", "contains text"},
    {"<param name='a b' value='1'/>", "a name can have only letters, digits and '_'"},
    {"<param value='1'/>", "needs the attribute 'name'"},
    {"<param name='' value='1'/>", "a name has 1 to 63 characters"},
    {"<param name='a&#9;b' value='1'/>", "a name cannot have control characters"},
    {"!<talus version='1' name=' a'/>", "a name cannot begin or end with blanks"},
    {"<bodies><pin name=' a' mass='1'/></bodies>", "a name cannot begin or end with blanks"},
    {"<bodies><pin name='a&#32;' mass='1'/></bodies>", "a name cannot begin or end with blanks"},
    {"<measures><time name=' t'/></measures>", "a name cannot begin or end with blanks"},
    {"<param name='a' value='$'/>", "no <param> above"},
    {"<param name='a' value='x$b'/>", "write a number, '$name' or '2*$name'"},
    {"<param name='a' value='2x*$b'/>", "write a number, '$name' or '2*$name'"},
    {"<param name='a' value='1e999'/>", "'1e999', which is not a number that a double can hold"},
    {"<param name='a' value='nan'/>", "it must be finite"},
    {"<param name='a' value=''/>", "'value' has 0 numbers; 1 is needed"},
    {"<include file='other.talus'/>", "a model in memory has no folder to read files from"},
    {"<include file='other.talus' prefix='2a'/>", "must be letters, digits and '_'"},
    {"<include file='other.talus' prefix='a-b'/>", "must be letters, digits and '_'"},
    {BODIES("<pin name='ground'/>"), "'ground' is the name of the built-in body"},
    {BODIES("<pin parent='p' name='p'/>"), "its parents form a loop"},
    {BODIES("<pin structure='soft'/>"), "it must be one of rigid|particle|line|massless"},
    {BODIES("<pin mass='1' solid='cube 1'/>"), "'solid' is unknown"},
    {BODIES("<pin mass='1' solid='sphere 1 2'/>"), "'solid' is unknown"},
    {BODIES("<pin mass='1' solid='sphere x'/>"), "'solid' is unknown"},
    {BODIES("<pin mass='1' solid='brick 1 2 3 4'/>"), "'solid' is unknown"},
    {BODIES("<pin mass='1' solid='sphere 1 y'/>"), "'solid' is unknown"},
    {BODIES("<pin mass='1' solid='sphere 1' inertia='1 1 1'/>"), "'inertia' or 'solid', not both"},
    {BODIES("<pin mass='1' inertia='1 1'/>"), "'inertia' has 2 numbers; 3 or 6 are needed"},
    {BODIES("<pin mass='1' about='tip'/>"), "it must be com or origin"},
    {BODIES("<pin mass='1' axis='up'/>"), "it must be x, y, z or three numbers"},
    {BODIES("<pin mass='1' axis='0 0 0'/>"), "it must be x, y, z or three numbers"},
    {BODIES("<pin mass='1' range='2 1'/>"), "'range' goes from 2 to 1: low comes first"},
    {BODIES("<pin mass='1' range='2'/>"), "'range' has 1 number; 2 are needed"},
    {BODIES("<pin mass='1' frame='0 0 0 1 0 0 0 2 0 0 0 1'/>"), "not at right angles"},
    {BODIES("<ellipsoid mass='1' radii='1 -1 1'/>"), "'radii' is -1; it must be positive"},
    {BODIES("<screw mass='1'/>"), "needs the attribute 'pitch'"},
    {BODIES("<pin mass='1'><coordinate index='1' name='a'/></pin>"), "the body has 1 coordinate"},
    {BODIES("<pin mass='1'><coordinate index='-1' name='a'/></pin>"), "must be a whole number"},
    {BODIES(
         "<pin mass='1'><rotation index='0' coordinates='0'><constant value='1'/></rotation></pin>"),
     "is allowed in <function_based> only"},
    {BODIES("<function_based coordinates='9' mass='1'><coordinate name='c'/></function_based>"),
     "'coordinates' is 9; it must be 1 to 6"},
    {BODIES("<function_based coordinates='1' mass='1'/>"), "it needs at least 1"},
    {BODIES("<function_based coordinates='1' mass='1'><rotation index='3' coordinates='0'>"
            "<linear slopes='1'/></rotation></function_based>"),
     "it must be 0, 1 or 2"},
    {BODIES("<function_based coordinates='1' mass='1'><rotation index='0' coordinates='1'>"
            "<linear slopes='1'/></rotation></function_based>"),
     "'1' is not a coordinate of the body"},
    {BODIES("<function_based coordinates='1' mass='1'><rotation index='0' coordinates='0' axis='1'>"
            "<linear slopes='1'/></rotation></function_based>"),
     "'axis' has 1 numbers; 3 are needed"},
    {BODIES("<function_based coordinates='1' mass='1'><rotation index='0' coordinates='0'>"
            "<linear slopes='1'/></rotation><rotation index='0' coordinates='0'>"
            "<linear slopes='1'/></rotation></function_based>"),
     "there is another one with index 0"},
    {BODIES("<function_based coordinates='2' mass='1'><rotation index='0' coordinates='0'>"
            "<linear slopes='1'/></rotation></function_based>"),
     "coordinate 1 of a function-based mobilizer has no effect"},
    {PIN CONSTRAINTS("<rod body1='p' length='0'/>"), "'length' is 0; it must be positive"},
    {PIN CONSTRAINTS("<point_in_plane body1='p' normal='0 0 0'/>"), "point"},
    {PIN CONSTRAINTS("<constant_orientation body1='p' rotation1='1'/>"),
     "a rotation has 3 (angles) or 9"},
    {PIN CONSTRAINTS("<coordinate_coupler mobilities='p'/>"), "contains 0 elements; it needs 1"},
    {PIN CONSTRAINTS("<coordinate_coupler mobilities=''><linear slopes='1'/></coordinate_coupler>"),
     "'mobilities' has 0 mobilities; 1 to 16 are possible"},
    {PIN CONSTRAINTS(
         "<coordinate_coupler mobilities='p;'><linear slopes='1'/></coordinate_coupler>"),
     "must name a body"},
    {PIN CONSTRAINTS(
         "<coordinate_coupler mobilities='p, p'><linear slopes='1 1'/></coordinate_coupler>"),
     "<coordinate_coupler>: the mobilities 'p, p' must be separated by ';'"},
    {PIN CONSTRAINTS("<constant_speed mobility='p:x' value='1'/>"), "has no index after ':'"},
    {KNEE FORCES("<mobility_force mobility='kneee' force='1'/>"),
     "<mobility_force>: 'kneee' must be a coordinate, a body with one mobility, or BODY:NUMBER (did "
     "you mean 'knee'?)"},
    {KNEE FORCES("<mobility_force mobility='shi' force='1'/>"), "(did you mean 'shin'?)"},
    {KNEE FORCES("<mobility_force mobility='elbow' force='1'/>"), "one mobility, or BODY:NUMBER"},
    {KNEE FORCES("<mobility_force mobility='knee:0' force='1'/>"),
     "'knee' is not a body but the <coordinate> in line 1 of"},
    {KNEE FORCES("<mobility_force mobility='knee:x' force='1'/>"), "has no index after ':'"},
    {KNEE FORCES("<constant_torque body='knee' torque='1 2 3'/>"),
     "'knee' is not a body but the <coordinate> in line 1 of"},
    {BODIES("<pin mass='1'><coordinate name='a'/></pin><pin mass='1'><coordinate name='a'/></pin>"),
     "the name 'a' is taken by <coordinate>"},
    {BODIES("<ball mass='1'><coordinate index='1' name='a'/></ball>")
         FORCES("<mobility_spring mobility='a' stiffness='1'/>"),
     "'a' is part of a quaternion; forces cannot act on it"},
    {BODIES("<ball mass='1' angles='yes'><coordinate index='1' name='a'/></ball>")
         FORCES("<mobility_damper mobility='a' damping='1'/>"),
     "the rate of 'a' is not a speed of its body"},
    {PIN FORCES("<contact><half_space static_friction='0.1' dynamic_friction='0.2'/></contact>"),
     "static friction 0.1 is less than dynamic friction 0.2"},
    {PIN FORCES("<constant_torque torque='1 2 3'/>"), "needs the attribute 'body'"},
    {PIN FORCES("<mobility_nonlinear_spring mobility='p'><spline x='1 2' y='1'/>"
                "</mobility_nonlinear_spring>"),
     "there are 2 x and 1 y"},
    {PIN FORCES("<mobility_nonlinear_spring mobility='p'><spline x='2 1' y='1 2'/>"
                "</mobility_nonlinear_spring>"),
     "<spline>: "},
    {PIN FORCES("<mobility_nonlinear_spring mobility='p'><sum/></mobility_nonlinear_spring>"),
     "<sum> contains 0 elements; it needs at least 1"},
    {PIN FORCES("<mobility_nonlinear_spring mobility='p'><product><linear slopes='1'/>"
                "<linear slopes='1 2'/></product></mobility_nonlinear_spring>"),
     "<product>: "},
    {PIN FORCES("<mobility_nonlinear_spring mobility='p'><constant value='1'/><constant value='2'/>"
                "</mobility_nonlinear_spring>"),
     "contains 2 elements; it needs 1"},
    {PIN FORCES("<gravity g='0 0 1'/><gravity g='0 0 1'/>"), "gravity"},
    {PIN FORCES("<mobility_stop mobility='p' stiffness='1' range='1 0'/>"), "mobility stop"},
    {PIN FORCES("<mobility_actuator mobility='p' gain='1' measure='w'/>"),
     "there is no measure 'w'"},
    {PIN MEASURES("<scale of='w' factor='1'/><time name='w'/>"),
     "must come before the measure that uses it"},
    {PIN MEASURES("<constant values=''/>"), "'values' has no numbers"},
    {PIN MEASURES("<time name='w'/><integrate of='w' initial='1 2'/>"),
     "'initial' has 2 numbers; the operand has 1"},
    {PIN MEASURES("<time name='w'/><delay of='w' delay='1' capacity='2000000'/>"),
     "at most 1000000 is possible"},
    {PIN MEASURES("<coordinate mobility='p:1'/>"), "'p' has 1 mobilities, so there is no 'p:1'"},
    {BODIES("<ball name='b' mass='1'/>") MEASURES("<speed mobility='b:3'/>"),
     "<speed>: the body has 3 speeds"},
    {BODIES("<ball name='b' mass='1' angles='yes'/>") MEASURES("<coordinate mobility='b:3'/>"),
     "'b' has 3 mobilities, so there is no 'b:3'"},
    {PIN MEASURES("<station body='p' along='0 0 0'/>"), "its direction is zero"},
    {PIN MEASURES("<multiplier constraint='rode'/>")
         CONSTRAINTS("<rod name='rod' body1='p' length='1'/>"),
     "there is no constraint 'rode' (did you mean 'rod'?)"},
    {PIN MEASURES("<multiplier constraint='rod' row='1'/>")
         CONSTRAINTS("<rod name='rod' body1='p' length='1'/>"),
     "there is no equation 1"},
    {UNILATERALS("<rope length='1'/>"), "<rope> needs the attribute 'body2'"},
    {UNILATERALS("<handling most_touching='-1'/>"),
     "'-1'; it must be a whole number, not negative"},
    {UNILATERALS("<handling window='0'/>"), "'window' is 0; it must be positive"},
    {UNILATERALS("<handling/><handling/>"), "has a handler already"},
    {CLOCK STOPS("<stop when='t' falls_bellow='1' rises_above='0'/>"),
     "<stop> has no attribute 'falls_bellow' (did you mean 'falls_below'?)"},
    {CLOCK STOPS("<stop name='x' when='t'/>"),
     "<stop name=\"x\"> needs one number in one of 'falls_below', 'rises_above', 'crosses' and 'time'"},
    {CLOCK STOPS("<stop when='t' falls_below='1' rises_above='2'/>"), "needs one number in one of"},
    {CLOCK STOPS("<stop when='t' falls_below='1 2'/>"), "needs one number in one of"},
    {CLOCK STOPS("<stop when='t' time='1'/>"), "a time needs no 'when'"},
    {CLOCK STOPS("<stop crosses='1'/>"), "'crosses' needs 'when', the measure that is watched"},
    {CLOCK STOPS("<stop when='u' crosses='1'/>"), "there is no measure 'u'"},
    {CLOCK STOPS("<stop when='t' crosses='inf'/>"), "'crosses' is inf; it must be finite"},
    {CLOCK STOPS("<stop name='a' time='1'/><stop name='a' time='2'/>"), "the name 'a' is taken"},
    {MEASURES("<constant name='c' values='1 2'/>") STOPS("<stop when='c' crosses='1'/>"),
     "measure 'c' has 2 values; it must have one"},
    {MESH("<mesh/>"), "<mesh> needs one <vertices> and one <faces>, or the attribute 'file'"},
    {MESH("<mesh><vertices>1 2 3</vertices></mesh>"),
     "<mesh> needs one <vertices> and one <faces>"},
    {MESH("<mesh><vertices>1 2 3</vertices><vertices>1 2 3</vertices></mesh>"),
     "needs one <vertices>"},
    {MESH("<mesh><vertices>1 2</vertices><faces>0 1 2</faces></mesh>"),
     "<vertices> has 2 numbers; it needs three for each"},
    {MESH("<mesh><vertices>1 2 3</vertices><faces/></mesh>"), "<faces> has 0 numbers"},
    {MESH("<mesh><vertices>1 2 3</vertices><faces>0 1 1.5</faces></mesh>"),
     "<faces> has 1.5; vertices are counted from 0"},
    {MESH("<mesh><vertices>1 2 x</vertices><faces>0 1 1</faces></mesh>"),
     "'vertices' has 'x', which is not a number"},
    {MESH("<mesh><vertices>0 0 0 1 0 0 0 1 0 0 0 1</vertices>"
          "<faces>0 1 2 0 1 3 0 3 2 1 2 9</faces></mesh>"),
     "<mesh>: face 3"},
    {MESH("<mesh file='a.obj'><vertices>1 2 3</vertices></mesh>"), "not both"},
    {MESH("<mesh file='a.obj'/>"), "a model in memory has no folder to read files from"},
    {MESH("<mesh scale='0'/>"), "'scale' is 0; it must be positive"},
    {BODIES("<pin mass='1' lock_at='1'/>"), "'lock_at' needs 'lock', the level"},
    {BODIES("<pin mass='1' lock='position' lock_at='1 2'/>"),
     "'lock_at' has 2 numbers; 1 is needed"},
    {BODIES("<free mass='1' rotor='1'/>"), "a rotor needs a body with one speed; it has 6"},
    {BODIES("<pin mass='1'><coordinate lock_at='1'/></pin>"),
     "'lock_at' is one number, with 'lock'"},
    {BODIES("<pin mass='1'><coordinate lock='velocity' lock_at='1 2'/></pin>"),
     "'lock_at' is one number, with 'lock'"},
    {BODIES("<free mass='1' inertia='1 1 1'><coordinate index='4' lock='position'/></free>"),
     "only all of its mobilities can be locked"},
    {PIN FORCES("<thermostat kT='1' chain='1' z='1'/>"), "'z' has 1 numbers; 2 are needed"},
    {PIN FORCES("<langevin kT='1' friction='1' interval='1' seed='-1'/>"),
     "'seed' is '-1'; it must be a whole number below 2^64"},
    {PIN FORCES("<langevin kT='1' friction='1' interval='1' seed='18446744073709551616'/>"),
     "it must be a whole number below 2^64"},
    {PIN FORCES("<exponential_spring body='p' anchor='1 2'/>"),
     "'anchor' has 2 numbers; 3 are needed"},
    {PIN FORCES("<exponential_spring body='p' anchor='1 2 1.5'/>"),
     "'anchor' slides by 1.5; it must be between 0 and 1"},
    {PIN FORCES("<discrete_forces><load body='q'/></discrete_forces>"), "there is no body 'q'"},
    {MESH("<half_space cliques='0'/>"), "'0' is not a clique; cliques are numbered from 1 to 64"},
    {MESH("<half_space cliques='1 2.5'/>"), "'2.5' is not a clique"},
    {PIN FORCES(ENERGY("<function named='one'/>")), "<function>: there is no function 'one'"},
    {ONE PIN FORCES(ENERGY("<function named='onne'/>")),
     "there is no function 'onne' (did you mean 'one'?)"},
    {PIN FORCES(ENERGY("<function named='one'/>")) ONE,
     "the function 'one' must come before the element that uses it"},
    {ONE PIN FORCES(ENERGY("<function named='p'/>")),
     "'p' is not a function but the <pin> in line 1 of m.talus"},
    {ONE FUNCTIONS("<linear name='one' slopes='1'/>"), "the name 'one' is taken by <constant>"},
    {FUNCTIONS("<constant value='1'/>"), "<constant> needs the attribute 'name'"},
    {FUNCTIONS("<constant name='' value='1'/>"), "a name has 1 to 63 characters"},
    {PIN FORCES(ENERGY("<constant name='c' value='1'/>")),
     "a function has a name in <functions> only"},
    {ONE FUNCTIONS("<function name='uno' named='one'/>"),
     "<function name=\"uno\"> is not allowed in <functions>"},
    {FUNCTIONS("<sum name='s'><constant value='1'/><product><function named='s'/></product></sum>"),
     "the function 's' uses itself"},
    {FUNCTIONS("<spline name='s' x='1 2' y='1'/>")
         PIN FORCES(ENERGY("<function named='s'/>") ENERGY("<function named='s'/>")),
     "there are 2 x and 1 y"},
    {FUNCTIONS("<linear name='two' slopes='1 2'/>") PIN FORCES(ENERGY("<function named='two'/>")),
     "mobility"},
    {PIN FORCES("<constant_torque body='t' torque='1 2 3'/>") CLOCK,
     "'t' is not a body but the <time> in line 1"},
    {MESH("<half_space material='stele'/>"),
     "there is no material 'stele' (did you mean 'steel'?)"},
    {MATERIALS("<material name='mud'/>") MESH("<half_space material='mut'/>"),
     "there is no material 'mut' (did you mean 'mud'?)"},
    {MESH("<half_space material='mud'/>") MATERIALS("<material name='mud'/>"),
     "the material 'mud' must come before the element that uses it"},
    {MATERIALS("<material name='mud' material='mud'/>"),
     "the material 'mud' must come before the element that uses it"},
    {MATERIALS("<material name='steel'/>"), "'steel' is the name of a built-in material"},
    {MATERIALS("<material stiffness='1'/>"), "<material> needs the attribute 'name'"},
    {MATERIALS("<material name='mud' stiffness='-1'/>") MESH("<half_space material='mud'/>"),
     "'stiffness' is -1; it must be positive"},
    {ONE MESH("<half_space material='one'/>"),
     "'one' is not a material but the <constant> in line 1 of m.talus"},
    {PIN MARKERS("<marker body='p'/>"), "<marker> needs the attribute 'name'"},
    {PIN MARKERS("<marker name='a' body='q'/>"), "there is no body 'q'"},
    {PIN MARKERS("<marker name='a' weight='-1'/>"), "'weight' is -1; it must be zero or positive"},
    {PIN MARKERS("<marker name='a'/><marker name='a'/>"), "the name 'a' is taken by <marker>"},
    {PIN "<decorations><sphere body='q' radius='1'/></decorations>", "there is no body 'q'"},
    {PIN "<decorations><sphere body='p' radius='1' color='2 0 0'/></decorations>", "color"},
};

START_TEST(every_error_has_its_sentence)
{
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; ++i) {
        char text[2000];
        const bool whole = goldens[i].text[0] == '!';
        (void)snprintf(text, sizeof text, whole ? "%s" : "<talus version='1'>%s</talus>",
                       goldens[i].text + (whole ? 1 : 0));
        char *all = complaints(text, TAL_ERR_FILE);
        const char *first_end = strchr(all, '\n');
        ck_assert_msg(strstr(all, goldens[i].part) != NULL, "%s\nlacks '%s':\n%s", text,
                      goldens[i].part, all);
        ck_assert_msg(first_end != NULL && first_end[1] == '\0', "more than one error in %s:\n%s",
                      text, all);
        ck_assert_int_eq(strncmp(all, "m.talus", 7), 0);
        free(all);
    }
}

END_TEST

// Each is the sum of two of the one before: the last stands for 2^40.
START_TEST(names_that_ask_for_billions_are_refused)
{
    char text[8000], *at = text;
    at += sprintf(at, "<talus version='1'><functions><constant name='f0' value='1'/>");
    for (int i = 1; i <= 40; ++i) {
        at += sprintf(at, "<sum name='f%d'><function named='f%d'/><function named='f%d'/></sum>", i,
                      i - 1, i - 1);
    }
    (void)sprintf(at, "</functions></talus>");
    char *all = complaints(text, TAL_ERR_FILE);
    ck_assert_ptr_nonnull(
        strstr(all, "<function named> is used for more than 1000000 functions in all"));
    free(all);
}

END_TEST

START_TEST(params_that_are_set_must_be_there)
{
    const char *text = "<talus version='1'/>";
    const tal_model_param given = {"l", 4.0};
    tal_model_options options = tal_model_options_default();
    options.params = &given;
    options.num_params = 1;
    tal_model m;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_model_read_memory("m", text, strlen(text), &options, &m, found),
                     TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(tal_diagnostics_at(found, 0)->message, "there is no <param> 'l' to set");
    const tal_model_param typo = {"lenght", 4.0};
    options.params = &typo;
    const char *other = "<talus version='1'><param name='length' value='1'/></talus>";
    ck_assert_int_eq(tal_model_read_memory("m", other, strlen(other), &options, &m, found),
                     TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(tal_diagnostics_at(found, 1)->message,
                     "there is no <param> 'lenght' to set (did you mean 'length'?)");
    ck_assert_int_eq(tal_model_read_file("no such file", NULL, &m, found), TAL_ERR_FILE);
    tal_diagnostics_destroy(found);
}

END_TEST

START_TEST(includes_end)
{
    // a file that includes itself, and one that includes nothing that is there
    test_write_file("test_model_errors.tmp",
                    "<talus version='1'><include file='test_model_errors.tmp'/>\n"
                    "<include file='is_not_there.tmp'/></talus>");
    tal_model m;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_model_read_file("test_model_errors.tmp", NULL, &m, found), TAL_ERR_FILE);
    ck_assert_int_eq(tal_diagnostics_num(found), 3);
    ck_assert_ptr_nonnull(strstr(tal_diagnostics_at(found, 0)->message, "includes itself"));
    ck_assert_ptr_nonnull(strstr(tal_diagnostics_at(found, 1)->message, "could not be read"));
    (void)remove("test_model_errors.tmp");

    // through different names it comes back too: an end is made by depth
    test_write_file("test_model_errors.tmp",
                    "<talus version='1'><include file='././test_model_errors.tmp'/></talus>");
    tal_diagnostics_clear(found);
    ck_assert_int_eq(tal_model_read_file("test_model_errors.tmp", NULL, &m, found), TAL_ERR_FILE);
    ck_assert_ptr_nonnull(
        strstr(tal_diagnostics_at(found, 0)->message, "include each other more than 16"));
    (void)remove("test_model_errors.tmp");
    tal_diagnostics_destroy(found);
}

END_TEST

// 256 files in all, the one that includes the others among them.
START_TEST(so_many_files_are_included_and_no_more)
{
    test_write_file("test_model_errors_part.tmp", "<talus version='1'/>");
    for (int num = 255; num <= 256; ++num) {
        static char text[20000];
        (void)snprintf(text, sizeof text, "<talus version='1'>");
        for (int i = 0; i < num; ++i) {
            (void)strcat(text, "<include file='test_model_errors_part.tmp'/>");
        }
        (void)strcat(text, "</talus>");
        test_write_file("test_model_errors.tmp", text);
        tal_model m;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        const tal_status st = tal_model_read_file("test_model_errors.tmp", NULL, &m, found);
        ck_assert_int_eq(st, num == 255 ? TAL_OK : TAL_ERR_FILE);
        ck_assert_int_eq(tal_diagnostics_num(found), num == 255 ? 0 : 1);
        if (num == 256) {
            ck_assert_ptr_nonnull(
                strstr(tal_diagnostics_at(found, 0)->message, "more than 256 files"));
        }
        tal_model_destroy(&m);
        tal_diagnostics_destroy(found);
    }
    (void)remove("test_model_errors.tmp");
    (void)remove("test_model_errors_part.tmp");
}

END_TEST

START_TEST(null_is_a_breach)
{
    test_record_breaches();
    tal_model m;
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_model_read_file(NULL, NULL, &m, NULL), TAL_ERR_NULL, "the name");
    ck_assert_int_eq(st, TAL_ERR_NULL);
    test_assert_breach(st = tal_model_read_file("x", NULL, NULL, NULL), TAL_ERR_NULL, "the result");
    test_assert_breach(st = tal_model_read_memory("x", NULL, 0, NULL, &m, NULL), TAL_ERR_NULL,
                       "the text");
    ck_assert_ptr_null(m.system);
    tal_model_destroy(&m);
    tal_model_destroy(NULL);
}

END_TEST

// ---- memory

START_TEST(memory_that_runs_out_is_told_and_given_back)
{
    const char *text =
        "<talus version='1'><param name='a' value='1'/><functions><sum name='s'><linear slopes='1'/>"
        "<spline x='0 1' y='0 1'/></sum><product name='f'><function named='s'/></product></functions>"
        "<materials><material name='mud'/></materials><bodies>"
        "<pin name='p' mass='$a' inertia='1 1 1' q='1'/><function_based parent='p' coordinates='1' mass='1'>"
        "<rotation index='0' coordinates='0'><linear slopes='1'/></rotation></function_based></bodies>"
        "<constraints><coordinate_coupler mobilities='p'><sum><linear slopes='1'/>"
        "<function named='f'/></sum></coordinate_coupler></constraints>"
        "<measures><time name='t'/></measures>"
        "<forces><gravity g='0 -9.81 0'/><mobility_actuator mobility='p' gain='1' measure='t'/>"
        "<contact><half_space material='mud'/><mesh body='p'><vertices>0 0 0 1 0 0 0 1 0 0 0 1</vertices>"
        "<faces>0 2 1 0 1 3 0 3 2 1 2 3</faces></mesh></contact></forces>"
        "<stops><stop name='late' time='5' message='It is late.'/></stops>"
        "<markers><marker name='tip' body='p'/><marker name='toe'/></markers><stops><stop when='t' crosses='1'/></stops>"
        "<decorations><text text='label' body='p'/></decorations></talus>";
    bool done = false;
    int n = 1;
    for (; !done; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_model_options options = tal_model_options_default();
        options.allocator = test_heap_allocator(&heap);
        tal_model m;
        const tal_status st = tal_model_read_memory("m", text, strlen(text), &options, &m, NULL);
        done = st == TAL_OK;
        if (!done) {
            ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
            ck_assert_ptr_null(m.system);
        } else {
            test_assert_never_refused(&heap);
        }
        tal_model_destroy(&m);
        ck_assert_msg(heap.bytes == 0, "%zu bytes lost when request %d fails", heap.bytes, n);
        ck_assert_int_lt(n, 1000);
    }
    ck_assert_int_gt(n, 30);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("model_errors");
    TCase *errors = tcase_create("errors");
    tcase_set_timeout(errors, 60);
    tcase_add_test(errors, all_errors_of_a_file_are_told_in_order);
    tcase_add_test(errors, every_error_has_its_sentence);
    tcase_add_test(errors, names_that_ask_for_billions_are_refused);
    tcase_add_test(errors, params_that_are_set_must_be_there);
    tcase_add_test(errors, includes_end);
    tcase_add_test(errors, so_many_files_are_included_and_no_more);
    tcase_add_test(errors, null_is_a_breach);
    tcase_add_test(errors, memory_that_runs_out_is_told_and_given_back);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
