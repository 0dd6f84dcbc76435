#ifndef TICKERTAPE_CZSTD_SHIM_H
#define TICKERTAPE_CZSTD_SHIM_H

#include <zstd.h>
#include <zstd_errors.h>

#endif
