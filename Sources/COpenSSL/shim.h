#ifndef TICKERTAPE_COPENSSL_SHIM_H
#define TICKERTAPE_COPENSSL_SHIM_H

#include <openssl/err.h>
#include <openssl/ssl.h>

#endif
