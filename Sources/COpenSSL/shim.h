#ifndef TICKERTAPE_COPENSSL_SHIM_H
#define TICKERTAPE_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/opensslv.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "OpenSSL 3.0 or later is needed; on Debian and Ubuntu: apt-get install libssl-dev pkg-config"
#endif

/*
 * Swift imports neither function-like macros nor macros with casts. Each twin below is the macro of the same name as an
 * inline function or a constant, and nothing more.
 */

static const uint64_t twin_SSL_OP_NO_COMPRESSION = SSL_OP_NO_COMPRESSION;
static const uint64_t twin_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t twin_SSL_OP_IGNORE_UNEXPECTED_EOF = SSL_OP_IGNORE_UNEXPECTED_EOF;
static const uint64_t twin_SSL_OP_LEGACY_SERVER_CONNECT = SSL_OP_LEGACY_SERVER_CONNECT;
static const uint64_t twin_SSL_OP_ALLOW_CLIENT_RENEGOTIATION = SSL_OP_ALLOW_CLIENT_RENEGOTIATION;
static const uint64_t twin_SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION = SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION;
static const uint64_t twin_SSL_OP_NO_TICKET = SSL_OP_NO_TICKET;
static const uint64_t twin_SSL_OP_ALLOW_NO_DHE_KEX = SSL_OP_ALLOW_NO_DHE_KEX;
static const uint64_t twin_SSL_OP_CIPHER_SERVER_PREFERENCE = SSL_OP_CIPHER_SERVER_PREFERENCE;

static inline long twin_SSL_CTX_set_min_proto_version(SSL_CTX *context, long version) {
    return SSL_CTX_set_min_proto_version(context, version);
}

static inline long twin_SSL_CTX_set_max_proto_version(SSL_CTX *context, long version) {
    return SSL_CTX_set_max_proto_version(context, version);
}

static inline long twin_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
    return SSL_CTX_set_session_cache_mode(context, mode);
}

static inline long twin_SSL_CTX_set_mode(SSL_CTX *context, long mode) {
    return SSL_CTX_set_mode(context, mode);
}

static inline long twin_SSL_CTX_add1_chain_cert(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate);
}

static inline long twin_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name);
}

static inline void twin_BIO_set_retry_read(BIO *bio) {
    BIO_set_retry_read(bio);
}

static inline void twin_BIO_clear_retry_flags(BIO *bio) {
    BIO_clear_retry_flags(bio);
}

static inline long twin_BIO_get_mem_data(BIO *bio, char **bytes) {
    return BIO_get_mem_data(bio, bytes);
}

static inline EVP_PKEY *twin_EVP_EC_gen(const char *curve) {
    return EVP_EC_gen(curve);
}

static inline GENERAL_NAMES *twin_GENERAL_NAMES_new(void) {
    return GENERAL_NAMES_new();
}

static inline int twin_sk_GENERAL_NAME_push(GENERAL_NAMES *names, GENERAL_NAME *name) {
    return sk_GENERAL_NAME_push(names, name);
}

static inline EVP_PKEY *twin_EVP_RSA_gen(unsigned int bits) {
    return EVP_RSA_gen(bits);
}

static inline long twin_SSL_set_tlsext_status_type(SSL *ssl, int type) {
    return SSL_set_tlsext_status_type(ssl, type);
}

static inline long twin_SSL_get_tlsext_status_ocsp_resp(SSL *ssl, const unsigned char **bytes) {
    return SSL_get_tlsext_status_ocsp_resp(ssl, bytes);
}

static inline long twin_SSL_set_tlsext_status_ocsp_resp(SSL *ssl, unsigned char *bytes, long count) {
    return SSL_set_tlsext_status_ocsp_resp(ssl, bytes, count);
}

static inline long twin_SSL_CTX_set_tlsext_status_cb(SSL_CTX *context, int (*callback)(SSL *, void *)) {
    return SSL_CTX_set_tlsext_status_cb(context, callback);
}

static inline long twin_SSL_CTX_set_tlsext_status_arg(SSL_CTX *context, void *argument) {
    return SSL_CTX_set_tlsext_status_arg(context, argument);
}

static inline void *twin_OPENSSL_memdup(const void *bytes, size_t count) {
    return OPENSSL_memdup(bytes, count);
}

static inline void twin_OPENSSL_free(void *bytes) {
    OPENSSL_free(bytes);
}

static inline int twin_sk_X509_num(const STACK_OF(X509) *certificates) {
    return sk_X509_num(certificates);
}

static inline X509 *twin_sk_X509_value(const STACK_OF(X509) *certificates, int index) {
    return sk_X509_value(certificates, index);
}

static inline int twin_sk_ASN1_INTEGER_num(const STACK_OF(ASN1_INTEGER) *numbers) {
    return sk_ASN1_INTEGER_num(numbers);
}

static inline ASN1_INTEGER *twin_sk_ASN1_INTEGER_value(const STACK_OF(ASN1_INTEGER) *numbers, int index) {
    return sk_ASN1_INTEGER_value(numbers, index);
}

static inline const EVP_MD *twin_EVP_get_digestbyobj(const ASN1_OBJECT *object) {
    return EVP_get_digestbyobj(object);
}

static inline void twin_X509V3_set_ctx_nodb(X509V3_CTX *context) {
    X509V3_set_ctx_nodb(context);
}

#endif
