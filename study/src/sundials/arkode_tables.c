// Runge-Kutta tables for ARKODE, whose own loader crashes when memory runs out. The numbers are
// those of the publications named, and bit for bit ARKODE's. Each `a` is a lower triangle, row by
// row.
#include "sundials/sundials_internal.h"

// clang-format off

// --- explicit ---

// Heun 2(1)
static const double heun_euler_a[] = {
    0.0,
    1.0, 0.0,
};
static const double heun_euler_b[] = {0.5, 0.5};
static const double heun_euler_d[] = {1.0, 0.0};
static const double heun_euler_c[] = {0.0, 1.0};

// Bogacki and Shampine 3(2), Appl. Math. Lett. 2, 1989
static const double bogacki_shampine_a[] = {
    0.0,
    0.5, 0.0,
    0.0, 0.75, 0.0,
    2.0 / 9, 1.0 / 3, 4.0 / 9, 0.0,
};
static const double bogacki_shampine_b[] = {2.0 / 9, 1.0 / 3, 4.0 / 9, 0.0};
static const double bogacki_shampine_d[] = {7.0 / 24, 0.25, 1.0 / 3, 1.0 / 8};
static const double bogacki_shampine_c[] = {0.0, 0.5, 0.75, 1.0};

// Zonneveld 4(3), 1963
static const double zonneveld_a[] = {
    0.0,
    0.5, 0.0,
    0.0, 0.5, 0.0,
    0.0, 0.0, 1.0, 0.0,
    5.0 / 32, 7.0 / 32, 13.0 / 32, -1.0 / 32, 0.0,
};
static const double zonneveld_b[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6, 0.0};
static const double zonneveld_d[] = {-0.5, 7.0 / 3, 7.0 / 3, 13.0 / 6, -16.0 / 3};
static const double zonneveld_c[] = {0.0, 0.5, 0.5, 1.0, 0.75};

// Dormand and Prince 5(4), 1980
static const double dormand_prince_a[] = {
    0.0,
    0.2, 0.0,
    0.075, 0.225, 0.0,
    44.0 / 45, -56.0 / 15, 32.0 / 9, 0.0,
    2.9525986892242035, -25360.0 / 2187, 9.822892851699436, -212.0 / 729, 0.0,
    2.8462752525252526, -355.0 / 33, 8.906422717743473, 49.0 / 176, -0.2735313036020583, 0.0,
    35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -0.322376179245283, 11.0 / 84, 0.0,
};
static const double dormand_prince_b[] = {
    35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -0.322376179245283, 11.0 / 84, 0.0
};
static const double dormand_prince_d[] = {
    0.08991319444444444, 0.0, 0.4534890685834082, 393.0 / 640, -0.2715123820754717, 187.0 /
    2100, 0.025
};
static const double dormand_prince_c[] = {0.0, 0.2, 0.3, 0.8, 8.0 / 9, 1.0, 1.0};

// Verner 6(5), 1978
static const double verner_a[] = {
    0.0,
    1.0 / 6, 0.0,
    4.0 / 75, 16.0 / 75, 0.0,
    5.0 / 6, -8.0 / 3, 2.5, 0.0,
    -165.0 / 64, 55.0 / 6, -425.0 / 64, 85.0 / 96, 0.0,
    2.4, -8.0, 4015.0 / 612, -11.0 / 36, 88.0 / 255, 0.0,
    -0.5508666666666666, 124.0 / 75, -643.0 / 680, -0.324, 0.23378823529411766, 0.0, 0.0,
    3501.0 / 1720, -300.0 / 43, 5.648179814561484, -319.0 / 2322, 0.2863022661036103, 0.0,
        0.1441785567164738, 0.0,
};
static const double verner_b[] = {
    0.075, 0.0, 875.0 / 2244, 23.0 / 72, 264.0 / 1955, 0.0, 0.010783298826777088, 43.0 / 616
};
static const double verner_d[] = {
    0.08125, 0.0, 0.39689171122994654, 5.0 / 16, 12.0 / 85, 3.0 / 44, 0.0, 0.0
};
static const double verner_c[] = {0.0, 1.0 / 6, 4.0 / 15, 2.0 / 3, 5.0 / 6, 1.0, 1.0 / 15, 1.0};

// Fehlberg 8(7), NASA TR R-287, 1968
static const double fehlberg_a[] = {
    0.0,
    2.0 / 27, 0.0,
    1.0 / 36, 1.0 / 12, 0.0,
    1.0 / 24, 0.0, 1.0 / 8, 0.0,
    5.0 / 12, 0.0, -1.5625, 1.5625, 0.0,
    0.05, 0.0, 0.0, 0.25, 0.2, 0.0,
    -25.0 / 108, 0.0, 0.0, 125.0 / 108, -65.0 / 27, 125.0 / 54, 0.0,
    31.0 / 300, 0.0, 0.0, 0.0, 61.0 / 225, -2.0 / 9, 13.0 / 900, 0.0,
    2.0, 0.0, 0.0, -53.0 / 6, 704.0 / 45, -107.0 / 9, 67.0 / 90, 3.0, 0.0,
    -91.0 / 108, 0.0, 0.0, 23.0 / 108, -976.0 / 135, 311.0 / 54, -19.0 / 60, 17.0 / 6, -1.0 /
        12, 0.0,
    0.5812195121951219, 0.0, 0.0, -341.0 / 164, 4496.0 / 1025, -301.0 / 82,
        0.5202439024390244, 45.0 / 82, 45.0 / 164, 18.0 / 41, 0.0,
    3.0 / 205, 0.0, 0.0, 0.0, 0.0, -6.0 / 41, -3.0 / 205, -3.0 / 41, 3.0 / 41, 6.0 / 41, 0.0, 0.0,
    -0.43341463414634146, 0.0, 0.0, -341.0 / 164, 4496.0 / 1025, -289.0 / 82,
        0.5348780487804878, 51.0 / 82, 33.0 / 164, 12.0 / 41, 0.0, 1.0, 0.0,
};
static const double fehlberg_b[] = {
    0.0, 0.0, 0.0, 0.0, 0.0, 34.0 / 105, 9.0 / 35, 9.0 / 35, 9.0 / 280, 9.0 / 280, 0.0, 41.0 /
    840, 41.0 / 840
};
static const double fehlberg_d[] = {
    41.0 / 840, 0.0, 0.0, 0.0, 0.0, 34.0 / 105, 9.0 / 35, 9.0 / 35, 9.0 / 280, 9.0 / 280, 41.0
    / 840, 0.0, 0.0
};
static const double fehlberg_c[] = {
    0.0, 2.0 / 27, 1.0 / 9, 1.0 / 6, 5.0 / 12, 0.5, 5.0 / 6, 1.0 / 6, 2.0 / 3, 1.0 / 3, 1.0,
    0.0, 1.0
};

// --- diagonally implicit ---

// SDIRK 2(1), A- and B-stable
static const double sdirk_2_a[] = {
    1.0,
    -1.0, 1.0,
};
static const double sdirk_2_b[] = {0.5, 0.5};
static const double sdirk_2_d[] = {1.0, 0.0};
static const double sdirk_2_c[] = {1.0, 0.0};

// ESDIRK3(2)5L[2]SA, Kennedy and Carpenter, NASA TM-2016-219173
static const double esdirk_3_a[] = {
    0.0,
    0.225, 0.225,
    0.2715990257669732, 0.2715990257669732, 0.225,
    0.22374368670764586, 0.22374368670764586, -0.07248737341529163, 0.225,
    0.17554550212940523, 0.17554550212940523, -0.34685820002600626, 0.7707671957671958, 0.225,
};
static const double esdirk_3_b[] = {
    0.17554550212940523, 0.17554550212940523, -0.34685820002600626, 0.7707671957671958, 0.225
};
static const double esdirk_3_d[] = {
    0.18435122201605925, 0.18435122201605925, -0.278208184050987, 0.6968620125433237,
    0.21264372747554489
};
static const double esdirk_3_c[] = {0.0, 0.45, 0.7681980515339464, 0.6, 1.0};

// ESDIRK4(3)6L[2]SA, from the same report
static const double esdirk_4_a[] = {
    0.0,
    0.25, 0.25,
    -0.05177669529663689, -0.05177669529663689, 0.25,
    -0.07655460838455719, -0.07655460838455727, 0.5281092167691145, 0.25,
    -0.72740634782613, -0.7274063478261299, 1.5849950617406794, 0.6598176339115805, 0.25,
    -0.01558763503571651, -0.01558763503571651, 0.3876576709132033, 0.5017726195721631,
        -0.10825502041393352, 0.25,
};
static const double esdirk_4_b[] = {
    -0.01558763503571651, -0.01558763503571651, 0.3876576709132033, 0.5017726195721631,
    -0.10825502041393352, 0.25
};
static const double esdirk_4_d[] = {
    -0.09651334216818033, -0.09651334216818033, 0.5228199509962342, 0.5205678646221885,
    -0.08255805440762122, 0.23219692312555915
};
static const double esdirk_4_c[] = {0.0, 0.5, 0.1464466094067262, 5.0 / 8, 1.04, 1.0};

// ESDIRK5(4)7L[2]SA2, likewise
static const double esdirk_5_a[] = {
    0.0,
    0.184, 0.184,
    0.2221076477383247, 0.22210764773832475, 0.184,
    -0.014049475381926274, -0.014049475381926283, -0.01709085093586415, 0.184,
    -0.40838859254931487, -0.40838859254931464, 0.16646399821362964, 1.1662718062895745, 0.184,
    -0.5392907235588111, -0.5392907235588114, -0.242234428845425, 1.4888806111225146,
        0.5563122281913184, 0.184,
    -0.03946606910974035, -0.03946606910974026, 0.27263649025024267, 0.4321651725202882,
        0.3524160862328891, -0.16228561078393952, 0.184,
};
static const double esdirk_5_b[] = {
    -0.03946606910974035, -0.03946606910974026, 0.27263649025024267, 0.4321651725202882,
    0.3524160862328891, -0.16228561078393952, 0.184
};
static const double esdirk_5_d[] = {
    -0.08068946656664727, -0.08068946656664744, 0.18289968461343553, 0.517013873766231,
    0.4265997313024543, -0.10432685796713498, 0.13919250141830897
};
static const double esdirk_5_c[] = {
    0.0, 0.368, 0.6282152954766494, 49.0 / 353, 0.6999586194045747, 347.0 / 382, 1.0
};

static const tali_sun_butcher EXPLICIT[] = {
    {2, 1, 2, heun_euler_a, heun_euler_b, heun_euler_d, heun_euler_c},
    {3, 2, 4, bogacki_shampine_a, bogacki_shampine_b, bogacki_shampine_d, bogacki_shampine_c},
    {4, 3, 5, zonneveld_a, zonneveld_b, zonneveld_d, zonneveld_c},
    {5, 4, 7, dormand_prince_a, dormand_prince_b, dormand_prince_d, dormand_prince_c},
    {6, 5, 8, verner_a, verner_b, verner_d, verner_c},
    {8, 7, 13, fehlberg_a, fehlberg_b, fehlberg_d, fehlberg_c},
};

static const tali_sun_butcher IMPLICIT[] = {
    {2, 1, 2, sdirk_2_a, sdirk_2_b, sdirk_2_d, sdirk_2_c},
    {3, 2, 5, esdirk_3_a, esdirk_3_b, esdirk_3_d, esdirk_3_c},
    {4, 3, 6, esdirk_4_a, esdirk_4_b, esdirk_4_d, esdirk_4_c},
    {5, 4, 7, esdirk_5_a, esdirk_5_b, esdirk_5_d, esdirk_5_c},
};

// clang-format on

const tali_sun_butcher *tali_sun_butcher_of_order(bool implicit, int order)
{
    const tali_sun_butcher *tables = implicit ? IMPLICIT : EXPLICIT;
    const size_t n =
        implicit ? sizeof IMPLICIT / sizeof IMPLICIT[0] : sizeof EXPLICIT / sizeof EXPLICIT[0];
    for (size_t i = 0; i < n; ++i) {
        if (tables[i].order == order) return &tables[i];
    }
    return NULL;
}
