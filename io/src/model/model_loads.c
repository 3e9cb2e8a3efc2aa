// The table: forces that a program sets in a State.
#include "model/model_write_internal.h"

void tali_model_build_discrete(tali_model *m, tali_model_item *item)
{
    item->built = tal_forces_add_discrete(m->forces, item->name).i;
}

static const tali_model_attribute load_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it acts on"},
    {"moment", TALI_TYPE_REAL, 3, "0", .doc = "about the body's origin, in Ground [N m]"},
    {"force", TALI_TYPE_REAL, 3, "0", .doc = "in Ground [N]"},
    {.name = NULL}};

static void start_load(tali_model *m, tali_model_item *item)
{
    const tal_force_ix force = {m->items[item->parent].built};
    const tal_spatial_vec F = {tali_model_vec3_at(item->p), tali_model_vec3_at(item->p + 3)};
    (void)tal_discrete_set_body_force(m->forces, m->state, force,
                                      tali_model_body_at(m, item->ref[0]), F);
}

static void describe_load(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_spatial_vec F = tal_discrete_body_force(
        model->forces, model->state, (tal_force_ix){d->owner}, (tal_body_ix){d->index});
    tali_model_say_index(d, d->index);
    tali_model_say_vec3(d, F.w);
    tali_model_say_vec3(d, F.v);
}

static const tali_model_attribute mobility_load_attributes[] = {
    {"mobility", TALI_TYPE_MOBILITY, .doc = "what it acts on"},
    {"force", TALI_TYPE_REAL, 1, .doc = "[N or N m]"},
    {.name = NULL}};

static void start_mobility_load(tali_model *m, tali_model_item *item)
{
    const tal_force_ix force = {m->items[item->parent].built};
    const tal_mobility at = tali_model_mobility_at(m, item->ref[0], item->ref[1]);
    (void)tal_discrete_set_mobility_force(m->forces, m->state, force, at, item->p[0]);
}

static void describe_mobility_load(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_mobility at = {{d->index}, d->part};
    tali_model_say_index(d, d->index);
    tali_model_say_index(d, d->part);
    tali_model_say_number(
        d, tal_discrete_mobility_force(model->forces, model->state, (tal_force_ix){d->owner}, at));
}

const tali_model_row tali_model_load_rows[] = {{.name = "load",
                                                .doc = "A force on a body.",
                                                .own = load_attributes,
                                                .start = start_load,
                                                .describe = describe_load},
                                               {.name = "mobility_load",
                                                .doc = "A force along a speed.",
                                                .own = mobility_load_attributes,
                                                .start = start_mobility_load,
                                                .describe = describe_mobility_load},
                                               {.name = NULL}};

// Forces that were set: those that are not zero.
void tali_model_write_loads(tali_model_description *discrete)
{
    tali_model_writer *w = discrete->w;
    const tal_matter *matter = w->model.matter;
    const tal_forces *forces = w->model.forces;
    const tal_force_ix force = {discrete->index};
    tali_model_sink_put(&w->out, "\n");
    for (int b = 0; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const tal_spatial_vec F = tal_discrete_body_force(forces, w->model.state, force, body);
        for (int i = -1; i < tal_body_nu(matter, body); ++i) {
            const tal_mobility at = {body, i};
            const bool is_zero =
                i < 0 ? tal_sv_dot(F, F) == 0.0
                      : tal_discrete_mobility_force(forces, w->model.state, force, at) == 0.0;
            if (is_zero) continue;
            tali_model_description d = {.w = w,
                                        .row = &tali_model_load_rows[i < 0 ? 0 : 1],
                                        .owner = force.i,
                                        .index = b,
                                        .part = i};
            tali_model_write_element(&d, "    ", "\n");
        }
    }
    tali_model_sink_put(&w->out, "    ");
}
