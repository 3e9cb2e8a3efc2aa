// What libFuzzer calls: any bytes as a set-up file of OpenSim, beside a model, markers,
// coordinates, orientations, tasks, forces and loads that it may name.
#include <talus/talus.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/talus_setup_XXXXXX";

static const char *const files[][2] = {
    {"arm.osim",
     "<OpenSimDocument Version='40000'><Model name='arm'><gravity>0 -10 0</gravity><BodySet>"
     "<objects><Body name='upper'><mass>2</mass><mass_center>0 -0.5 0</mass_center>"
     "<inertia>0.2 0.02 0.2 0 0 0</inertia></Body></objects></BodySet><JointSet><objects>"
     "<PinJoint name='shoulder'><socket_parent_frame>/ground</socket_parent_frame>"
     "<socket_child_frame>/bodyset/upper</socket_child_frame><coordinates><Coordinate name='raise'/>"
     "</coordinates></PinJoint></objects></JointSet><MarkerSet><objects><Marker name='a'>"
     "<socket_parent_frame>/bodyset/upper</socket_parent_frame><location>0 -1 0</location></Marker>"
     "</objects></MarkerSet></Model></OpenSimDocument>"},
    {"q.mot", "q\ninDegrees=no\nendheader\ntime\traise\n0\t0\n0.1\t0.1\n0.2\t0.2\n0.3\t0.3\n"},
    {"seen.trc",
     "PathFileType\t4\t(X/Y/Z)\tseen.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\t"
     "OrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n10\t10\t2\t1\tm\t10\t1\t2\nFrame#\tTime\ta\n"
     "\t\tX1\tY1\tZ1\n\n1\t0\t0\t-1\t0\n2\t0.1\t0.1\t-1\t0\n"},
    {"loads.xml",
     "<OpenSimDocument Version='40000'><ExternalLoads><objects><ExternalForce name='push'>"
     "<applied_to_body>upper</applied_to_body><force_expressed_in_body>ground"
     "</force_expressed_in_body><force_identifier>f</force_identifier><data_source_name>loads.sto"
     "</data_source_name></ExternalForce></objects><datafile>loads.sto</datafile></ExternalLoads>"
     "</OpenSimDocument>"},
    {"tasks.xml",
     "<OpenSimDocument Version='40000'><CMC_TaskSet><objects><CMC_Joint name='raise'><active>true"
     "</active><kp>100</kp><kv>20</kv></CMC_Joint></objects></CMC_TaskSet></OpenSimDocument>"},
    {"motors.xml",
     "<OpenSimDocument Version='40000'><ForceSet><objects><CoordinateActuator name='motor'>"
     "<coordinate>raise</coordinate><optimal_force>10</optimal_force></CoordinateActuator>"
     "</objects></ForceSet></OpenSimDocument>"},
    {"imu.sto", "DataType=Quaternion\nendheader\ntime\tupper_imu\n0\t1,0,0,0\n"
                "0.1\t0.8,0,0,0.6\n"},
    {"loads.sto", "f\nendheader\ntime\tfx\tfy\tfz\n0\t1\t2\t3\n1\t1\t2\t3\n"},
};

enum {
    NUM_FILES = sizeof files / sizeof files[0]
};

static const char *in_folder(const char *file)
{
    static char path[100];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

static void write_bytes(const char *file, const void *bytes, size_t size)
{
    FILE *to = fopen(in_folder(file), "wb");
    if (to == NULL || fwrite(bytes, 1, size, to) != size || fclose(to) != 0) abort();
}

static void remove_folder(void)
{
    for (int i = 0; i < NUM_FILES; ++i) {
        (void)remove(in_folder(files[i][0]));
    }
    (void)remove(in_folder("setup.xml"));
    (void)rmdir(folder);
}

static void make_folder(void)
{
    static bool is_made;
    if (is_made) return;
    is_made = true;
    if (mkdtemp(folder) == NULL || atexit(remove_folder) != 0) abort();
    for (int i = 0; i < NUM_FILES; ++i) {
        size_t size = 0;
        while (files[i][1][size] != '\0') {
            ++size;
        }
        write_bytes(files[i][0], files[i][1], size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    make_folder();
    write_bytes("setup.xml", data, size);
    tal_osim_results *results = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_run_file(in_folder("setup.xml"), NULL, &results, found);
    if ((st == TAL_OK) != (tal_diagnostics_num_errors(found) == 0)) __builtin_trap();
    if ((st == TAL_OK) != (results != NULL)) __builtin_trap();
    for (int i = 0; results != NULL && i < tal_osim_results_num(results); ++i) {
        const tal_table *table = tal_osim_results_table(results, i);
        if (table != NULL && tal_table_num_rows(table) < 0) __builtin_trap();
        if (table == NULL && tal_osim_results_text(results, i, NULL) == NULL) __builtin_trap();
    }
    tal_osim_results_destroy(results);
    tal_diagnostics_destroy(found);
    return 0;
}
