import Glibc
import Market
import NIOCore
import TLS
import Testing
@testable import Feeds

@Suite("TLS refusals, as a person reads them")
struct TLSHintTests {
    @Test("every refused certificate is one line that says what to do, and names settings that exist")
    func refusals() {
        for refusal in CertificateRefusal.allCases {
            let words = "\(UpstreamFailure(TLSError(refusal)))"
            #expect(words.hasPrefix("certificate refused: \(refusal.words): "), "\(words)")
            #expect(!words.contains("\n"))
        }
    }

    @Test("no two kinds of refusal share their text")
    func distinct() {
        #expect(Set(CertificateRefusal.allCases.map(\.words)).count == CertificateRefusal.allCases.count)
    }

    @Test(
        "the hint names the setting that solves the problem",
        arguments: [
            (CertificateRefusal.unknownAuthority, "--ca-file"), (.listExpired, "tls.crl-file"),
            (.listMissing, "tls.crl-file"), (.answerExpired, "tls.ocsp: off"), (.answerMissing, "tls.ocsp: stapled"),
            (.notPinned, "tls.pin"),
        ]
    )
    func cures(refusal: CertificateRefusal, setting: String) {
        #expect("\(UpstreamFailure(TLSError(refusal)))".contains(setting))
    }

    @Test("no hint says to trust an authority whose certificate was revoked, or to switch the check off")
    func revoked() {
        for refusal in [CertificateRefusal.revokedByAnswer, .revokedByList, .authorityRevokedByList] {
            let words = "\(UpstreamFailure(TLSError(refusal)))"
            #expect(words.hasSuffix(": do not trust this service until it has another certificate"), "\(words)")
            #expect(!words.contains("tls."))
        }
    }

    @Test("damage on an open connection is a loss, and no reason to doubt the address")
    func openConnection() {
        let damaged = TLSError(kind: .protocolViolation, reason: "bad record mac")
        let handshake = UpstreamFailure(damaged)
        #expect(
            handshake.cause == .tls && handshake.description.hasSuffix("is the upstream address that of a TLS service?")
        )
        let open = UpstreamFailure(ConnectionEnding.failed(damaged))
        #expect(open.cause == .lost && open.description == "the encrypted stream is damaged: bad record mac")
        let upgrade = UpstreamFailure(upgrading: damaged)
        #expect(upgrade.cause == .upgrade && !upgrade.description.contains("address"))
    }

    @Test("a reset and a close have one cause, on each step")
    func resets() {
        let reset = IOError(errnoCode: ECONNRESET, reason: "read")
        #expect(UpstreamFailure(ConnectionEnding.failed(reset)).cause == .lost)
        let truncated = TLSError(kind: .truncated, reason: "no close_notify")
        #expect(UpstreamFailure(ConnectionEnding.failed(truncated)).cause == .lost)
        #expect(UpstreamFailure(upgrading: reset).cause == .upgrade)
        #expect(UpstreamFailure(upgrading: truncated).cause == .upgrade)
        #expect(UpstreamFailure(upgrading: ChannelError.eof).cause == .upgrade)
    }

    @Test("errors other than of certificates have their hint, if there is one")
    func others() {
        let old = TLSError(kind: .versionRefused, reason: "unsupported protocol")
        #expect(
            "\(UpstreamFailure(old))"
                == "no common TLS version: unsupported protocol: the service must speak TLS 1.2 or 1.3"
        )
        let late = TLSError(kind: .timedOut, reason: "not complete after 5000 ms")
        #expect("\(UpstreamFailure(late))" == "TLS handshake timed out: not complete after 5000 ms")
    }
}
