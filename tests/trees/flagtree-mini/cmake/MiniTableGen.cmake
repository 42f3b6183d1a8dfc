# SPDX-License-Identifier: MIT
# A stand-in for LLVM's TableGen.cmake: same calls, same include order, same depfile.
find_program(MINI_TBLGEN_PYTHON NAMES python3 REQUIRED)
set(MINI_TBLGEN ${CMAKE_CURRENT_LIST_DIR}/mini_tblgen.py)

# mlir_tablegen(OUT -gen-KIND): OUT in the binary directory, from LLVM_TARGET_DEFINITIONS
function(mlir_tablegen out kind)
  if(IS_ABSOLUTE ${LLVM_TARGET_DEFINITIONS})
    set(td ${LLVM_TARGET_DEFINITIONS})
  else()
    set(td ${CMAKE_CURRENT_SOURCE_DIR}/${LLVM_TARGET_DEFINITIONS})
  endif()
  set(includes -I ${CMAKE_CURRENT_SOURCE_DIR})
  get_directory_property(dirs INCLUDE_DIRECTORIES)
  foreach(dir ${dirs})
    list(APPEND includes -I ${dir})
  endforeach()
  set(result ${CMAKE_CURRENT_BINARY_DIR}/${out})
  add_custom_command(OUTPUT ${result}
    COMMAND ${MINI_TBLGEN_PYTHON} ${MINI_TBLGEN} ${kind} ${includes} -d ${result}.d -o ${result} ${td}
    DEPENDS ${td} ${MINI_TBLGEN}
    DEPFILE ${result}.d
    COMMENT "Building ${out}"
    VERBATIM)
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} ${result} PARENT_SCOPE)
endfunction()

# add_public_tablegen_target(NAME): a target for every mlir_tablegen output so far in this directory
macro(add_public_tablegen_target name)
  add_custom_target(${name} DEPENDS ${TABLEGEN_OUTPUT})
  set_property(GLOBAL APPEND PROPERTY TRITON_TABLEGEN_TARGETS ${name})
endmacro()
