# talus_add_kernels(<layer> <file>...)
#
# The passes of a layer once more for each kind of processor that runs them faster (ADR 20). Which
# of them is used is settled at run time, by matter/src/kernel/kernel_choice.c, which asks the
# machine for the features named here. Not where the build is for one machine anyway.
include(CMakePushCheckState)
include(CheckCSourceCompiles)
option(TALUS_DISPATCH "Kernels for several processors, chosen at run time" ON)

set(TALUS_KERNELS_avx2 -mavx2 -mfma)
set(TALUS_KERNELS_avx512 ${TALUS_KERNELS_avx2} -mavx512f -mavx512vl -mavx512dq)

cmake_push_check_state()
string(REPLACE ";" " " CMAKE_REQUIRED_FLAGS "${TALUS_KERNELS_avx512}")
check_c_source_compiles("
  int main(void) { __builtin_cpu_init(); return __builtin_cpu_supports(\"avx512vl\") != 0; }
" TALUS_CAN_DISPATCH)
cmake_pop_check_state()

set(TALUS_DISPATCHES FALSE)
if(TALUS_DISPATCH AND TALUS_CAN_DISPATCH AND NOT TALUS_NATIVE)
  set(TALUS_DISPATCHES TRUE)
endif()

# What each set offers besides: kernels over lanes of this width.
set(TALUS_LANES_avx2 lanes4)
set(TALUS_LANES_avx512 lanes8)

# The objects of kernels become part of a layer and of the libraries.
function(talus_use_kernels layer kernels)
  target_compile_features(${kernels} PUBLIC c_std_17)
  target_include_directories(${kernels} PRIVATE
    $<TARGET_PROPERTY:${layer},INCLUDE_DIRECTORIES>)
  set_target_properties(${kernels} PROPERTIES
    C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  foreach(library ${layer} talus talus_static)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${kernels}>)
  endforeach()
endfunction()

function(talus_add_kernels layer)
  if(NOT TALUS_DISPATCHES)
    return()
  endif()
  set_property(SOURCE src/kernel/kernel_choice.c APPEND PROPERTY COMPILE_DEFINITIONS TALUS_DISPATCH)
  foreach(set avx2 avx512)
    set(kernels ${layer}_${set})
    add_library(${kernels} OBJECT ${ARGN})
    target_compile_definitions(${kernels} PRIVATE TALI_KERNEL_SET=${set}
      TALI_LANES_SET=${TALUS_LANES_${set}})
    target_compile_options(${kernels} PRIVATE ${TALUS_WARNINGS} ${TALUS_ARITHMETIC}
      ${TALUS_KERNELS_${set}} $<$<BOOL:${TALUS_HAS_VECTOR_WIDTH}>:-mprefer-vector-width=128>)
    talus_use_kernels(${layer} ${kernels})
  endforeach()
endfunction()

# talus_add_lanes(<layer> <header> <file>...)
#
# Passes once more over lanes (ADR 34): the header, forced before everything else, makes `double` as
# many numbers as a register holds.
function(talus_add_lanes layer header)
  if(NOT TALUS_DISPATCHES)
    return()
  endif()
  foreach(set avx2 avx512)
    set(kernels ${layer}_${TALUS_LANES_${set}})
    add_library(${kernels} OBJECT ${ARGN})
    target_compile_definitions(${kernels} PRIVATE TALI_KERNEL_SET=${TALUS_LANES_${set}})
    target_compile_options(${kernels} PRIVATE ${TALUS_WARNINGS} -Wno-psabi ${TALUS_ARITHMETIC}
      ${TALUS_KERNELS_${set}} -include ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    talus_use_kernels(${layer} ${kernels})
  endforeach()
endfunction()
