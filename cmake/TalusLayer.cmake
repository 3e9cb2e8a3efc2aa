# talus_add_layer(<name> [DEPENDS <layer>...] [LIBRARIES <target>...] SOURCES <file>...)
#
# One folder, one layer. SOURCES become the static library talus_<name>, which the white-box
# tests link, and their objects also go into libtalus, which is what gets installed. A layer
# finds the headers of the layers it DEPENDS on and of no others, so an include that climbs
# the stack does not compile. Three kinds of headers: include/ is public and installed; internal/
# is shared with the layers above but never installed; src/ is private to the layer.
function(talus_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LIBRARIES;SOURCES")
  set(layer talus_${name})

  add_library(${layer} STATIC ${arg_SOURCES})
  target_compile_features(${layer} PUBLIC c_std_17)
  target_compile_options(${layer} PRIVATE ${TALUS_WARNINGS} ${TALUS_ARITHMETIC})
  target_include_directories(${layer}
    PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/internal
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  set_target_properties(${layer} PROPERTIES
    C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  foreach(below IN LISTS arg_DEPENDS)
    target_link_libraries(${layer} PUBLIC talus_${below})
  endforeach()
  target_link_libraries(${layer} PRIVATE ${arg_LIBRARIES} m)

  foreach(library talus talus_static)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${layer}>)
    target_include_directories(${library} PUBLIC
      $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
  endforeach()
  # who links libtalus.so needs none of LIBRARIES; who links libtalus.a needs them all. The inline
  # functions of the headers need libm.
  foreach(needed IN LISTS arg_LIBRARIES)
    target_link_libraries(talus PRIVATE $<BUILD_INTERFACE:${needed}>)
    target_link_libraries(talus_static PRIVATE ${needed})
  endforeach()
  target_link_libraries(talus PUBLIC m)
  target_link_libraries(talus_static PUBLIC m)

  install(DIRECTORY include/talus TYPE INCLUDE)
  set_property(GLOBAL APPEND PROPERTY TALUS_LAYERS ${name})
endfunction()

# clang's -Wdouble-promotion also warns about INFINITY and NAN, which C defines as floats
set(TALUS_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes
                   -Wmissing-prototypes -Wvla $<$<C_COMPILER_ID:GNU>:-Wdouble-promotion>
                   $<$<BOOL:${TALUS_WERROR}>:-Werror>)

include(CheckCCompilerFlag)

# Same inputs, same bytes: the compiler may not contract a*b+c on its own (ADR 9). Packing the
# scalars of small vectors into SIMD registers costs the passes more shuffles than it saves (a
# quarter of the time with -march=native), so the compiler is told not to; whole loops it may
# vectorize. Nothing reads errno after a square root.
set(TALUS_ARITHMETIC -ffp-contract=off -fno-tree-slp-vectorize -fno-math-errno
                     $<$<BOOL:${TALUS_NATIVE}>:-march=native>)

# gcc clears structs of more than 64 bytes by a string instruction, which takes some 30 cycles to
# start.
set(clear_by_vectors -mmemset-strategy=vector_loop:256:noalign,libcall:-1:noalign)
check_c_compiler_flag(${clear_by_vectors} TALUS_HAS_MEMSET_STRATEGY)
if(TALUS_HAS_MEMSET_STRATEGY)
  list(APPEND TALUS_ARITHMETIC ${clear_by_vectors})
endif()

# Functions of libtalus.so are not replaced at run time, so calls inside it can be inlined.
check_c_compiler_flag(-fno-semantic-interposition TALUS_HAS_NO_INTERPOSITION)
if(TALUS_HAS_NO_INTERPOSITION)
  list(APPEND TALUS_ARITHMETIC -fno-semantic-interposition)
endif()

# Wide registers would be used to copy small structs whose parts were just stored one by one, and
# such a load waits for the stores: a tenth of forward dynamics.
check_c_compiler_flag(-mprefer-vector-width=128 TALUS_HAS_VECTOR_WIDTH)
if(TALUS_NATIVE AND TALUS_HAS_VECTOR_WIDTH)
  list(APPEND TALUS_ARITHMETIC -mprefer-vector-width=128)
endif()
