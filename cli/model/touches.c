// What unilateral elements do in a run: impacts and changes of modes, counted and listed.
#include "model/touches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int touches_begin(touches *it, const cli_args *args, const cli_model *model)
{
    const char *const path = cli_text(args, "events");
    *it = (touches){.model = model, .num = tal_matter_num_unilaterals(model->matter)};
    it->known = cli_alloc((size_t)it->num + 1, sizeof *it->known);
    for (int i = 0; i < it->num; ++i) {
        const tal_unilateral_ix element = {i};
        it->known[i].mode = tal_unilateral_mode_of(model->matter, model->state, element);
        it->known[i].count = tal_unilateral_impact_of(model->matter, model->state, element).count;
    }
    if (path == NULL) return CLI_OK;
    it->out = fopen(path, cli_flag(args, "resume") ? "a" : "w");
    if (it->out == NULL) {
        return cli_fail(args, CLI_FAILED, "cannot write %s: %s", path, strerror(errno));
    }
    return CLI_OK;
}

// The first line of the list, which begins; lines of an earlier run that is not resumed are cut.
static void put_heading(touches *it)
{
    it->has_heading = true;
    if (it->out == NULL) return;
    if (ftruncate(fileno(it->out), 0) == 0 || errno == EINVAL) rewind(it->out); // EINVAL: a pipe
    fprintf(it->out, "time,element,kind,approach,separation,impulse,friction_1,friction_2\n");
}

void touches_save(touches *it, cli_bytes *to)
{
    bytes_add(to, it->known, (size_t)it->num * sizeof *it->known);
    bytes_add(to, &it->impacts, sizeof it->impacts);
    bytes_add(to, &it->changes, sizeof it->changes);
    if (!it->has_heading) put_heading(it);
    if (it->out != NULL) (void)fflush(it->out);
    const long length = it->out != NULL ? ftell(it->out) : 0;
    bytes_add(to, &length, sizeof length);
}

tal_status touches_resume(touches *it, checkpoint_reader *from)
{
    long length = 0;
    checkpoint_take(from, it->known, (size_t)it->num * sizeof *it->known);
    checkpoint_take(from, &it->impacts, sizeof it->impacts);
    checkpoint_take(from, &it->changes, sizeof it->changes);
    checkpoint_take(from, &length, sizeof length);
    it->has_heading = true;
    if (it->out == NULL) return TAL_OK;
    const bool is_there = fseek(it->out, 0, SEEK_END) == 0 && ftell(it->out) >= length;
    if (!is_there || ftruncate(fileno(it->out), length) != 0) return TAL_ERR_FILE;
    return fseek(it->out, 0, SEEK_END) == 0 ? TAL_OK : TAL_ERR_FILE;
}

static void put_number(FILE *out, double value)
{
    char text[TAL_NUMBER_SIZE];
    (void)tal_number_write(value, text);
    fprintf(out, ",%s", text);
}

// A name may hold commas and quotes.
static void put_start(const touches *it, double t, tal_unilateral_ix element, const char *kind)
{
    char text[TAL_NUMBER_SIZE];
    (void)tal_number_write(t, text);
    fprintf(it->out, "%s,\"", text);
    for (const char *at = tal_unilateral_name(it->model->matter, element); *at != '\0'; ++at) {
        if (*at == '"') fputc('"', it->out);
        fputc(*at, it->out);
    }
    fprintf(it->out, "\",%s", kind);
}

static void list_impact(const touches *it, tal_unilateral_ix element,
                        const tal_unilateral_impact *impact)
{
    const double numbers[] = {impact->speed, impact->after, impact->normal, impact->friction[0],
                              impact->friction[1]};
    put_start(it, impact->t, element, "impact");
    for (int k = 0; k < 5; ++k) {
        put_number(it->out, numbers[k]);
    }
    fputc('\n', it->out);
}

static const char *change_of(tal_unilateral_mode before, tal_unilateral_mode now)
{
    const tal_contact_kind kind = before == TAL_UNILATERAL_OFF  ? TAL_CONTACT_CLOSES
                                  : now == TAL_UNILATERAL_OFF   ? TAL_CONTACT_OPENS
                                  : now == TAL_UNILATERAL_STICK ? TAL_CONTACT_STICKS
                                                                : TAL_CONTACT_SLIPS;
    return tal_contact_kind_name(kind);
}

// Impacts first: modes are decided behind them. Of several at one instant the last one is known.
void touches_look(touches *it, const tal_state *state)
{
    if (!it->has_heading) put_heading(it);
    for (int i = 0; i < it->num; ++i) {
        const tal_unilateral_ix element = {i};
        const tal_unilateral_impact impact =
            tal_unilateral_impact_of(it->model->matter, state, element);
        const long news = impact.count - it->known[i].count;
        if (news > 0 && it->out != NULL) list_impact(it, element, &impact);
        it->impacts += news;
        it->known[i].count = impact.count;
    }
    for (int i = 0; i < it->num; ++i) {
        const tal_unilateral_ix element = {i};
        const tal_unilateral_mode mode = tal_unilateral_mode_of(it->model->matter, state, element);
        const tal_unilateral_mode before = it->known[i].mode;
        if (mode == before) continue;
        ++it->changes;
        it->known[i].mode = mode;
        if (it->out == NULL) continue;
        put_start(it, tal_state_t(state), element, change_of(before, mode));
        fputs(",0,0,0,0,0\n", it->out);
    }
}

int touches_end(touches *it, const cli_args *args)
{
    free(it->known);
    it->known = NULL;
    if (it->out == NULL) return CLI_OK;
    if (!it->has_heading) put_heading(it);
    const bool was_bad = ferror(it->out) != 0;
    const bool is_closed = fclose(it->out) == 0;
    it->out = NULL;
    if (!was_bad && is_closed) return CLI_OK;
    return cli_fail(args, CLI_FAILED, "cannot write %s.", cli_text(args, "events"));
}
