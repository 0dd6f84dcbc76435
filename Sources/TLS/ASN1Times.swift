internal import COpenSSL
internal import Glibc

/// Conversions of the times in certificates, revocation lists and OCSP responses.
package enum ASN1Times {
    /// Returns a UTCTime or GeneralizedTime in seconds since 1970; `nil` where it is malformed.
    static func seconds(of time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else {
            OpenSSLErrors.clear()
            return nil
        }
        return Int64(timegm(&parts))
    }

    /// The system's clock in seconds since 1970. OpenSSL compares validity periods with the same clock.
    package static var now: Int64 { Int64(time(nil)) }
}
