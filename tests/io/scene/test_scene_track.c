// io/src/scene/scene_track.c and scene_text.c: numbers through time, and texts of a page.
#include "scene/scene_internal.h"
#include "talus_test.h"

#include <math.h>

// A scene with nothing but its memory, and JSON beside it.
typedef struct fixture {
    tal_scene scene;
    tali_scene_bytes json;
} fixture;

static void set_up(fixture *it)
{
    *it = (fixture){.scene.options = tal_scene_options_default()};
    const tal_allocator heap = it->scene.options.allocator;
    it->scene.arena = tali_arena_make(&heap);
    it->scene.data.allocator = heap;
    it->json.allocator = heap;
}

static void tear_down(fixture *it)
{
    tali_scene_bytes_free(&it->scene.data);
    tali_scene_bytes_free(&it->json);
    tali_arena_free(&it->scene.arena);
}

enum {
    FRAMES = 97
};

// Integers of all sizes and shapes come back exactly.
START_TEST(integers_come_back_as_they_are)
{
    enum {
        CHANNELS = 8
    };

    static int32_t n[CHANNELS * FRAMES];
    double quantum[CHANNELS], base[CHANNELS], values[CHANNELS * FRAMES];
    uint64_t seed = 4711;
    for (int i = 0; i < FRAMES; ++i) {
        n[i] = 0;
        n[FRAMES + i] = i % 2 == 0 ? INT32_MAX : -INT32_MAX;
        n[2 * FRAMES + i] = i * i * i - 500000;
        n[3 * FRAMES + i] = -i;
        n[4 * FRAMES + i] = (int32_t)lround(1e8 * sin(0.1 * i));
        n[5 * FRAMES + i] = 255 - 2 * (i % 200);
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        n[6 * FRAMES + i] = (int32_t)(seed >> 33) - (1 << 30);
        n[7 * FRAMES + i] = i == 50 ? INT32_MAX : 0;
    }
    for (int c = 0; c < CHANNELS; ++c) {
        quantum[c] = ldexp(1.0, -c);
        base[c] = c;
    }
    fixture it;
    set_up(&it);
    tali_scene_track track;
    ck_assert(
        tali_scene_add_integers(&it.scene, &it.json, n, base, quantum, CHANNELS, FRAMES, &track));
    tali_scene_decode(it.scene.data.at, &track, values);
    for (int k = 0; k < CHANNELS * FRAMES; ++k) {
        const int c = k / FRAMES;
        ck_assert_double_eq(values[k], base[c] + quantum[c] * n[k]); // exact: powers of two
    }
    tear_down(&it);
}

END_TEST

// Within half a quantum, which is at most the precision times the range; a NaN stays one.
START_TEST(values_come_back_within_their_precision)
{
    enum {
        CHANNELS = 5
    };

    static double values[CHANNELS * FRAMES], again[CHANNELS * FRAMES];
    const double precision = 2e-6;
    for (int i = 0; i < FRAMES; ++i) {
        values[i] = sin(0.07 * i);
        values[FRAMES + i] = 1e9 + 1e-3 * i;
        values[2 * FRAMES + i] = 42.0;
        values[3 * FRAMES + i] = i > 10 && i < 20 ? (double)NAN : exp(0.1 * i);
        values[4 * FRAMES + i] = i == 0 ? -8e307 : 8e307;
    }
    fixture it;
    set_up(&it);
    tali_scene_track track;
    ck_assert(
        tali_scene_add_values(&it.scene, &it.json, values, CHANNELS, FRAMES, precision, &track));
    ck_assert(track.has_mask);
    tali_scene_decode(it.scene.data.at, &track, again);
    const double range[CHANNELS] = {2.0, 1e-3 * FRAMES, 0.0, exp(0.1 * FRAMES), 0.0};
    for (int k = 0; k < 4 * FRAMES; ++k) {
        const double error = fabs(values[k] - again[k]);
        // base + quantum n is rounded once more: 1e9 has an eps of 1.2e-7
        const double rounding = 2.3e-16 * fabs(values[k]);
        if (isnan(values[k]))
            ck_assert(isnan(again[k]));
        else
            ck_assert_double_le(error, 0.5 * precision * range[k / FRAMES] + rounding);
    }
    for (int i = 0; i < FRAMES; ++i) {
        ck_assert(isfinite(again[4 * FRAMES + i])); // a range that is almost too large for a double
    }
    tear_down(&it);
}

END_TEST

START_TEST(smooth_motion_takes_few_bytes)
{
    static double values[1000];
    for (int i = 0; i < 1000; ++i) {
        values[i] = sin(0.01 * i);
    }
    fixture it;
    set_up(&it);
    tali_scene_track track;
    ck_assert(tali_scene_add_values(&it.scene, &it.json, values, 1, 1000, 2e-6, &track));
    // 5e5 steps need three bytes each as they are; second differences are below 128
    ck_assert_int_ge(track.order[0], 2);
    ck_assert_int_eq(track.planes, 3); // of the first value only: the planes are almost all zero
    int zeros = 0;
    for (int i = 1000; i < 3000; ++i) {
        zeros += it.scene.data.at[i] == 0;
    }
    ck_assert_int_ge(zeros, 1990);
    tear_down(&it);
}

END_TEST

START_TEST(a_quantum_is_a_power_of_two_within_its_limit)
{
    for (double limit = 1e-300; limit < 1e300; limit *= 37.7) {
        const double q = tali_scene_quantum(limit);
        int exponent = 0;
        ck_assert_double_eq(frexp(q, &exponent), 0.5);
        ck_assert(q <= limit && q > 0.5 * limit);
    }
    ck_assert_double_eq(tali_scene_quantum(0.25), 0.25);
}

END_TEST

static void assert_string(const char *text, const char *expected)
{
    fixture it;
    set_up(&it);
    tali_scene_put_string(&it.json, text);
    tali_scene_put(&it.json, "", 1);
    ck_assert_str_eq((const char *)it.json.at, expected);
    tear_down(&it);
}

START_TEST(no_name_ends_a_script)
{
    assert_string("knee", "\"knee\"");
    assert_string("</script><img onerror=x>",
                  "\"\\u003c/script\\u003e\\u003cimg onerror=x\\u003e\"");
    assert_string("a & \"b\" \\", "\"a \\u0026 \\u0022b\\u0022 \\u005c\"");
    assert_string("\xe2\x80\xa8 \xe2\x80\xa9 \xe2\x82\xac", "\"\\u2028 \\u2029 \xe2\x82\xac\"");
    assert_string("\n\t\x01\x7f", "\"\\u000a\\u0009\\u0001\\u007f\"");
    assert_string("", "\"\"");
    assert_string("\xe2", "\"\xe2\"");
}

END_TEST

START_TEST(base64_is_that_of_the_standard)
{
    // RFC 4648, section 10
    static const char *const words[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        fixture it;
        set_up(&it);
        tali_scene_put_base64(&it.json, (const unsigned char *)words[i][0], strlen(words[i][0]));
        tali_scene_put(&it.json, "", 1);
        ck_assert_str_eq((const char *)it.json.at, words[i][1]);
        tear_down(&it);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("scene_track");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, integers_come_back_as_they_are);
    tcase_add_test(theory, values_come_back_within_their_precision);
    tcase_add_test(theory, smooth_motion_takes_few_bytes);
    tcase_add_test(theory, a_quantum_is_a_power_of_two_within_its_limit);
    tcase_add_test(theory, no_name_ends_a_script);
    tcase_add_test(theory, base64_is_that_of_the_standard);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
