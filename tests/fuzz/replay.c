// Runs a fuzz target over the files of a folder: what was found once stays found.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;

    enum {
        LARGEST = 1 << 20
    };

    uint8_t *data = malloc(LARGEST);
    const size_t size = data != NULL ? fread(data, 1, LARGEST, file) : 0;
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    DIR *folder = opendir(argv[1]);
    if (folder == NULL) return 2;
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[1000];
        if (entry->d_name[0] == '.') continue;
        (void)snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        count += replay(path);
    }
    (void)closedir(folder);
    (void)printf("%d files\n", count);
    return count > 0 ? 0 : 1;
}
