# SPDX-License-Identifier: MIT
# Which headers and which python/src files a backend brings.
set(FLAGTREE_BACKEND_DIR ${PROJECT_SOURCE_DIR}/third_party/${FLAGTREE_BACKEND})

# flagtree_include_directories(): the backend's headers are found before the trunk's
macro(flagtree_include_directories)
  if(FLAGTREE_BACKEND AND EXISTS ${FLAGTREE_BACKEND_DIR}/spec_cpp/include)
    include_directories(${FLAGTREE_BACKEND_DIR}/spec_cpp/include)
  endif()
  include_directories(${PROJECT_SOURCE_DIR}/include)
endmacro()

# flagtree_python_src_path_set(OUT NAMES...): each source from the backend if it has one of that name
macro(flagtree_python_src_path_set out)
  set(${out})
  foreach(name ${ARGN})
    if(FLAGTREE_BACKEND AND EXISTS ${FLAGTREE_BACKEND_DIR}/python/src/${name})
      list(APPEND ${out} ${FLAGTREE_BACKEND_DIR}/python/src/${name})
    else()
      list(APPEND ${out} ${PROJECT_SOURCE_DIR}/python/src/${name})
    endif()
  endforeach()
  if(FLAGTREE_BACKEND AND EXISTS ${FLAGTREE_BACKEND_DIR}/python/src)
    include_directories(${FLAGTREE_BACKEND_DIR}/python/src)
  endif()
endmacro()
