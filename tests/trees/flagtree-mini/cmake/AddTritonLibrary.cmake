# SPDX-License-Identifier: MIT
# add_triton_library(NAME SOURCES... [DEPENDS TARGETS...]): a static library that the module links.
function(add_triton_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  # every library may include any generated file
  get_property(tablegen_targets GLOBAL PROPERTY TRITON_TABLEGEN_TARGETS)
  add_dependencies(${name} ${tablegen_targets} ${ARG_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY TRITON_LIBS ${name})
endfunction()
