internal import COpenSSL
internal import Glibc

/// The times in certificates, lists and answers, as numbers.
package enum ASN1Times {
    /// The seconds since 1970 of a UTCTime or GeneralizedTime; `nil` where it is malformed.
    static func seconds(of time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else {
            OpenSSLErrors.clear()
            return nil
        }
        return Int64(timegm(&parts))
    }

    /// The system's clock in seconds since 1970: OpenSSL judges certificates by the same.
    package static var now: Int64 { Int64(time(nil)) }
}
