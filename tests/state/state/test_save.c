// state/src/state/save.c: a State to bytes and back, and every way the bytes can be wrong.
#include "beside.h"
#include "system/system_internal.h"
#include "talus_test.h"
#include "toy_system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where things stand in the header: magic, byte order, version, hash, payload, has_model, checksum.
enum {
    AT_ORDER = 8,
    AT_VERSION = 12,
    AT_HASH = 16,
    AT_PAYLOAD = 24,
    AT_CHECKSUM = 40,
    HEADER = 48
};

static toy made;
static tal_state *state;  // what was saved
static tal_state *target; // what is loaded into
static size_t size;
static unsigned char *saved;
static unsigned char *before; // the target, saved before a load

static void setup(void)
{
    test_record_breaches();
    ck_assert(toy_build(&made, NULL));
    state = toy_state(&made);
    target = toy_state(&made);
    toy_scramble(&made, state, 1);
    toy_scramble(&made, target, 2);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_REPORT), TAL_OK);
    ck_assert_int_eq(tal_system_begin_step(made.system, state), TAL_OK);
    ck_assert_int_eq(tal_system_realize(made.system, target, TAL_STAGE_REPORT), TAL_OK);
    size = tal_state_save_size(state);
    saved = malloc(size + 1);
    before = malloc(size);
    ck_assert_int_eq(tal_state_save(state, saved, size), TAL_OK);
    ck_assert_int_eq(tal_state_save(target, before, size), TAL_OK);
}

static void teardown(void)
{
    free(saved);
    free(before);
    tal_state_destroy(state);
    tal_state_destroy(target);
    tal_system_destroy(made.system);
}

// The load must fail, with that status, and leave the target as it was, results included.
static void assert_refused(const void *bytes, size_t n, tal_status status, const char *part)
{
    const tal_status st = tal_state_load(made.system, target, bytes, n);
    if (status != TAL_OK) ck_assert_int_eq(st, status);
    ck_assert_int_lt(st, 0);
    ck_assert_int_eq(tal_state_error(target)->status, st);
    ck_assert_msg(strstr(tal_state_error(target)->message, part) != NULL, "'%s' lacks '%s'",
                  tal_state_error(target)->message, part);
    unsigned char *after = malloc(size);
    ck_assert_int_eq(tal_state_save(target, after, size), TAL_OK);
    ck_assert(memcmp(before, after, size) == 0);
    ck_assert_int_eq(tal_state_stage(target), TAL_STAGE_REPORT);
    free(after);
}

// Make the checksum right again after the bytes were changed.
static void sign(void)
{
    uint64_t sum = 0;
    memcpy(saved + AT_CHECKSUM, &sum, sizeof sum);
    sum = tali_hash(TALI_HASH_SEED, saved, size);
    memcpy(saved + AT_CHECKSUM, &sum, sizeof sum);
}

START_TEST(a_loaded_state_equals_the_saved_one_bit_for_bit)
{
    const uint64_t digest = toy_digest(&made, state);
    ck_assert_int_eq(tal_state_load(made.system, target, saved, size), TAL_OK);
    ck_assert_int_eq(tal_state_stage(target), TAL_STAGE_MODEL);
    ck_assert(tal_state_is_equal(state, target));
    ck_assert_int_eq(tal_state_save(target, before, size), TAL_OK);
    ck_assert_mem_eq(before, saved, size);
    ck_assert_double_eq(tal_state_t_prev(target), tal_state_t_prev(state));
    ck_assert_int_eq(tal_system_realize(made.system, target, TAL_STAGE_REPORT), TAL_OK);
    ck_assert_uint_eq(toy_digest(&made, target), digest);
}

END_TEST

START_TEST(a_state_of_an_equal_system_is_accepted)
{
    toy twin;
    ck_assert(toy_build(&twin, NULL));
    tal_state *other = toy_state(&twin);
    ck_assert_int_eq(tal_state_load(twin.system, other, saved, size), TAL_OK);
    ck_assert(tal_state_is_equal(other, state));
    tal_state_destroy(other);
    tal_system_destroy(twin.system);
}

END_TEST

// A variable allocated at Model has no value then: it is the Model stage that gives it one.
START_TEST(a_state_saved_below_model_goes_on_as_the_original_does)
{
    const toy_part *part = &made.part[0];
    const int32_t n = 2;
    ck_assert_int_eq(tal_var_set_double(made.system, state, part->mode, 7.0), TAL_OK);
    ck_assert_int_eq(tal_var_set(made.system, state, part->nq, &n), TAL_OK);
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_TOPOLOGY);
    ck_assert_int_eq(tal_state_save(state, saved, size), TAL_OK);
    ck_assert_int_eq(tal_state_load(made.system, target, saved, size), TAL_OK);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_REPORT), TAL_OK);
    ck_assert_int_eq(tal_system_realize(made.system, target, TAL_STAGE_REPORT), TAL_OK);
    ck_assert_double_eq(tal_var_double(made.system, target, part->mode), 0.5);
    ck_assert(tal_state_is_equal(state, target));
    ck_assert_uint_eq(toy_digest(&made, target), toy_digest(&made, state));
}

END_TEST

START_TEST(bytes_cut_short_at_any_length_are_refused)
{
    for (size_t n = 0; n < size; ++n) {
        assert_refused(saved, n, TAL_ERR_FILE, "truncated");
    }
    saved[size] = 0;
    assert_refused(saved, size + 1, TAL_ERR_FILE, "truncated or too long");
}

END_TEST

START_TEST(any_flipped_bit_is_noticed)
{
    for (size_t bit = 0; bit < 8 * size; ++bit) {
        saved[bit / 8] ^= (unsigned char)(1U << bit % 8);
        const tal_status st = tal_state_load(made.system, target, saved, size);
        const bool in_hash = bit / 8 >= AT_HASH && bit / 8 < AT_PAYLOAD;
        if (st != (in_hash ? TAL_ERR_WRONG_SYSTEM : TAL_ERR_FILE)) {
            ck_abort_msg("bit %zu: %s", bit, tal_status_name(st));
        }
        if (bit % 64 == 0) assert_refused(saved, size, TAL_OK, "");
        saved[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    assert_refused("", 0, TAL_ERR_FILE, "truncated");
}

END_TEST

START_TEST(each_kind_of_wrong_file_has_its_own_sentence)
{
    const uint32_t swapped = UINT32_C(0x01000000);
    memcpy(saved + AT_ORDER, &swapped, sizeof swapped);
    sign();
    assert_refused(saved, size, TAL_ERR_FILE, "another byte order");
    const uint32_t one = 1;
    memcpy(saved + AT_ORDER, &one, sizeof one);
    const uint32_t version = 2;
    memcpy(saved + AT_VERSION, &version, sizeof version);
    sign();
    assert_refused(saved, size, TAL_ERR_FILE, "format version 2, but this library reads 1");
    memcpy(saved + AT_VERSION, &one, sizeof one);
    saved[AT_HASH] ^= 1;
    sign();
    assert_refused(saved, size, TAL_ERR_WRONG_SYSTEM, "not saved from System 'toy'");
    saved[AT_HASH] ^= 1;
    saved[AT_PAYLOAD] ^= 1;
    sign();
    assert_refused(saved, size, TAL_ERR_FILE, "too long");
    saved[AT_PAYLOAD] ^= 1;
    saved[0] = 'X';
    sign();
    assert_refused(saved, size, TAL_ERR_FILE, "not a saved State");
    saved[0] = 'T';
    sign();
    ck_assert_int_eq(tal_state_load(made.system, target, saved, size), TAL_OK);
}

END_TEST

// Group sizes decide where memory is read, so a right checksum is not enough.
START_TEST(absurd_slices_with_a_right_checksum_are_refused)
{
    const int32_t absurd[] = {-2, TOY_MAX_Q + 1, INT32_MAX, INT32_MIN, 1000000};
    const size_t slices = made.system->layout.slices - made.system->layout.variables + HEADER;
    for (int g = 0; g < made.system->groups.count; ++g) {
        for (int k = 0; k < 2 * 5; ++k) {
            const size_t at = slices + (size_t)g * 8 + (k % 2 == 0 ? 0 : 4);
            int32_t kept;
            memcpy(&kept, saved + at, sizeof kept);
            memcpy(saved + at, &absurd[k / 2], sizeof kept);
            sign();
            assert_refused(saved, size, TAL_ERR_FILE, "do not fit in their pools");
            memcpy(saved + at, &kept, sizeof kept);
        }
    }
    sign();
    ck_assert_int_eq(tal_state_load(made.system, target, saved, size), TAL_OK);
}

END_TEST

START_TEST(a_model_that_cannot_be_realized_is_refused)
{
    const int32_t too_many = TOY_MAX_Q + 1;
    ck_assert_int_eq(tal_var_set(made.system, state, made.part[1].nq, &too_many), TAL_OK);
    ck_assert_int_eq(tal_state_save(state, saved, size), TAL_OK);
    assert_refused(saved, size, TAL_ERR_CAPACITY, "cannot have 4 slots");
    ck_assert_uint_eq(toy_digest(&made, target), toy_digest(&made, target));
}

END_TEST

START_TEST(memory_that_is_too_small_is_refused)
{
    ck_assert_int_eq(tal_state_save(state, saved, size - 1), TAL_ERR_CAPACITY);
    ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, "are too few"));
}

END_TEST

// --- files ---

START_TEST(a_file_holds_the_same_bytes)
{
    const char *path = "test_state_save.tmp";
    ck_assert_int_eq(tal_state_save_file(state, path), TAL_OK);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    unsigned char *bytes = malloc(size + 1);
    ck_assert_uint_eq(fread(bytes, 1, size + 1, file), size);
    (void)fclose(file);
    ck_assert_mem_eq(bytes, saved, size);
    free(bytes);
    ck_assert_int_eq(tal_state_load_file(made.system, target, path), TAL_OK);
    ck_assert(tal_state_is_equal(state, target));

    file = fopen(path, "ab"); // a longer file
    (void)fputc(0, file);
    (void)fclose(file);
    ck_assert_int_eq(tal_state_load_file(made.system, target, path), TAL_ERR_FILE);
    ck_assert_int_eq(remove(path), 0);
}

END_TEST

START_TEST(files_that_cannot_be_had_are_reported_with_their_name)
{
    ck_assert_int_eq(tal_state_load_file(made.system, target, "no/such.state"), TAL_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(target)->message, "cannot read 'no/such.state'"));
    ck_assert_int_eq(tal_state_save_file(state, "no/such/folder.state"), TAL_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, "cannot write"));
    // a folder can be opened but not read, and no file can take its place
    ck_assert_int_eq(tal_state_load_file(made.system, target, "."), TAL_ERR_FILE);
    ck_assert_int_eq(tal_state_save_file(state, "../tests"), TAL_ERR_FILE);
    ck_assert_int_eq(test_num_beside("../tests"), 0);
    char *path = malloc(5000);
    memset(path, 'x', 4999);
    path[4999] = '\0';
    ck_assert_int_eq(tal_state_save_file(state, path), TAL_ERR_FILE);
    ck_assert_str_eq(tal_state_error(state)->message, "the path is too long");
    free(path);
    ck_assert_int_eq(test_breaches(), 0);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("state/save");
    TCase *tests = tcase_create("save");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_loaded_state_equals_the_saved_one_bit_for_bit);
    tcase_add_test(tests, a_state_of_an_equal_system_is_accepted);
    tcase_add_test(tests, a_state_saved_below_model_goes_on_as_the_original_does);
    tcase_add_test(tests, bytes_cut_short_at_any_length_are_refused);
    tcase_add_test(tests, any_flipped_bit_is_noticed);
    tcase_add_test(tests, each_kind_of_wrong_file_has_its_own_sentence);
    tcase_add_test(tests, absurd_slices_with_a_right_checksum_are_refused);
    tcase_add_test(tests, a_model_that_cannot_be_realized_is_refused);
    tcase_add_test(tests, memory_that_is_too_small_is_refused);
    tcase_add_test(tests, a_file_holds_the_same_bytes);
    tcase_add_test(tests, files_that_cannot_be_had_are_reported_with_their_name);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
