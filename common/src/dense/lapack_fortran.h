// The Fortran routines we call, as gfortran and its compatibles lay them out: a lower-case name
// with an underscore, every argument by reference, INTEGER as int, and for each CHARACTER argument
// its length by value at the end of the list. The length is size_t since gfortran 8; a compiler
// that expects none ignores the surplus under every calling convention we build for. The argument
// lists are those of the routines' own headers (Reference LAPACK, SRC/*.f).
#ifndef TALUS_LAPACK_FORTRAN_H
#define TALUS_LAPACK_FORTRAN_H

#include <stddef.h>

void dgels_(const char *trans, const int *m, const int *n, const int *nrhs, double *a,
            const int *lda, double *b, const int *ldb, double *work, const int *lwork, int *info,
            size_t trans_length);

void dgesdd_(const char *jobz, const int *m, const int *n, double *a, const int *lda, double *s,
             double *u, const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork,
             int *iwork, int *info, size_t jobz_length);

void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info, size_t jobz_length, size_t uplo_length);

void dsygv_(const int *itype, const char *jobz, const char *uplo, const int *n, double *a,
            const int *lda, double *b, const int *ldb, double *w, double *work, const int *lwork,
            int *info, size_t jobz_length, size_t uplo_length);

void dgeev_(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda,
            double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr,
            double *work, const int *lwork, int *info, size_t jobvl_length, size_t jobvr_length);

#endif // TALUS_LAPACK_FORTRAN_H
