// Moving pictures as one PNG file: APNG, made of pictures of the same size.
#ifndef TALUS_CLI_APNG_H
#define TALUS_CLI_APNG_H

#include "cli.h"

typedef struct apng {
    unsigned char *at; // [capacity] owned
    size_t size, capacity;
    size_t frames_at; // where the number of frames stands
    unsigned num_frames, num_controls;
    unsigned char header[13]; // of the first picture: all others have the same
    double fps;
} apng;

// An empty film; `fps` from 0.02 to 65535.
apng apng_begin(double fps);
// Add a PNG file: [size] bytes. False: it is none, or of another size or kind than the first.
bool apng_add(apng *it, const unsigned char bytes[], size_t size);
// Close the film: at[size] is a file then.
void apng_end(apng *it);
void apng_free(apng *it);

#endif // TALUS_CLI_APNG_H
