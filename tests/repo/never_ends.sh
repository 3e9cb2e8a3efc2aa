#!/usr/bin/env bash
# never_ends.sh LIBTALUS_A
# The library never ends, jumps out of or talks for the program that uses it (promise P20), and
# leaves its locale, its signals and its environment alone: no object of libtalus.a refers to a
# function that would. Only the default contract handler prints, on stderr; only where sentences are
# written a thread has another locale, as long as that takes. (__assert_fail is in builds with
# asserts: what is impossible inside.)
set -eu
library=$1

nm --undefined-only "$library" | awk '
    BEGIN {
        split("abort exit _exit _Exit quick_exit longjmp _longjmp siglongjmp __longjmp_chk raise " \
              "kill signal sigaction printf __printf_chk vprintf __vprintf_chk puts putchar " \
              "perror psignal stdout err errx warn warnx error syslog setlocale setenv putenv " \
              "system popen fork srand rand random drand48", list, " ")
        for (i in list) forbidden[list[i]] = 1
    }
    /^[^ ].*:$/ { object = $1; sub(/:$/, "", object); objects++; next }
    $2 in forbidden || ($2 == "stderr" && object !~ /^contract\.c/) ||
        ($2 == "uselocale" && object !~ /^status\.c/) {
        printf "%s uses %s: return a status instead\n", object, $2
        failures++
    }
    $2 == "stderr" { talkers++ }
    END {
        printf "%d objects, %d violations\n", objects, failures
        exit failures > 0 || objects == 0 || talkers != 1
    }'
