// The piles of bench_pile.c in MuJoCo, step by step.
#ifndef TALUS_BENCH_PILE_MUJOCO_H
#define TALUS_BENCH_PILE_MUJOCO_H

/// A pile in MuJoCo. Opaque.
typedef struct mujoco_pile mujoco_pile;

/// Columns of `high` boxes as bench_pile.c has them; NULL when it cannot be made.
mujoco_pile *mujoco_pile_create(int columns, int high, double step);
void mujoco_pile_destroy(mujoco_pile *pile);

/// Take `count` steps.
void mujoco_pile_step(void *pile, long count);

/// Points of contact in the last step.
int mujoco_pile_num_contacts(const mujoco_pile *pile);

/// How far the highest box has sunk [m].
double mujoco_pile_sunk(const mujoco_pile *pile);

#endif // TALUS_BENCH_PILE_MUJOCO_H
