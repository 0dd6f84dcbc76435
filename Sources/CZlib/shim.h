#ifndef TICKERTAPE_CZLIB_SHIM_H
#define TICKERTAPE_CZLIB_SHIM_H

#include <zlib.h>

#endif
