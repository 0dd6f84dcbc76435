import Glibc
package import Market
import NIOCore
import NIOPosix
import TLS
import WebSocket
import Wire

/// The failure of an attempt or the end of a connection, described for a person and classified for the feed.
package struct UpstreamFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reaction of the feed.
    package enum Disposition: Sendable, Equatable {
        /// Try again after the backoff's next wait.
        case retry
        /// The service asks for a wait, in nanoseconds if it states one.
        case rateLimited(retryAfter: Int64?)
        /// Only a person can help: the key is not accepted.
        case keyRejected
        /// The replay has ended.
        case ended
    }

    package var disposition: Disposition
    /// One line, with a remedy if there is one. It never holds a key.
    package var description: String
    /// The kind of the failure, for the metrics.
    package var cause: FeedStatus.Cause
    /// The wait that the answer asks for, in nanoseconds; more than 0, at most ``RetryAfter/limit``.
    package var retryAfter: Int64?
    /// Whether this program ended an open connection. Such an end says nothing about other users of the key.
    package var isOurEnd = false
    /// Whether the server has nothing at the requested path.
    package var isOfUnknownPath = false
    /// Whether the service refuses the place where this machine is (HTTP 451).
    package var isOfLocation = false

    package init(_ description: String, cause: FeedStatus.Cause = .other, disposition: Disposition = .retry) {
        self.description = description
        self.cause = cause
        self.disposition = disposition
    }
}

extension UpstreamFailure {
    /// Describes an error on the way to an open WebSocket.
    init(_ error: any Error) {
        switch error {
        case let failure as UpstreamFailure:
            self = failure
        case let error as TLSError:
            self.init(tls: error)
        case let error as WebSocketUpgradeError:
            self.init(upgrade: error, within: nil, now: 0)
        case let error as IOError:
            self.init("the connection broke: \(Self.words(of: error))", cause: .lost)
        case ChannelError.eof, ChannelError.alreadyClosed, ChannelError.ioOnClosedChannel:
            self.init("the service closed the connection without an answer", cause: .lost)
        default:
            self.init("the connection failed: \(error)")
        }
    }

    /// Describes the end of an open connection.
    init(_ ending: ConnectionEnding) {
        switch ending {
        case .closed(let closure):
            self.init(closure)
        case .failed(let error as TLSError):
            self.init(open: error)
        case .failed(let error):
            self.init(error)
        case .silent(let nanoseconds):
            self.init("nothing arrived for \(nanoseconds / 1_000_000_000) s", cause: .silent)
            self.isOurEnd = true
        case .stale(let silence):
            let others = silence.others == 0 ? "" : " and \(silence.others) more"
            self.init(
                "no trade of \(silence.symbol)\(others) for \(silence.nanoseconds / 1_000_000_000) s",
                cause: .stale
            )
            self.isOurEnd = true
        case .inactive:
            self.init("the connection was lost", cause: .lost)
        }
    }

    private init(_ closure: WebSocketClosure) {
        let reason = closure.reason.isEmpty ? "" : ": \(AnswerText.line(of: closure.reason))"
        switch closure.cause {
        case .peerClosed:
            self.init(
                "the service closed the connection (\(closure.code.map { "\($0.rawValue)" } ?? "no code")\(reason))",
                cause: .closed
            )
        case .locallyClosed, .closeTimedOut:
            self.init("closed by this program")
            self.isOurEnd = true
        case .protocolViolation(let violation):
            self.init("the service broke the WebSocket protocol: \(violation.reason)", cause: .protocolViolation)
            self.isOurEnd = true
        case .pongTimeout:
            self.init("our ping was not answered in time", cause: .pongTimeout)
            self.isOurEnd = true
        case .connectionLost:
            self.init("the connection was lost without a close frame", cause: .lost)
        }
    }

    /// Describes a failed WebSocket handshake.
    ///
    /// - Parameters:
    ///   - limit: the limit for the service's answer.
    ///   - now: nanoseconds since 1970.
    ///   - venue: the venue whose own service answers, if it is one.
    init(upgrade error: WebSocketUpgradeError, within limit: TimeAmount?, now: Int64, venue: Venue? = nil) {
        let time = limit.map { "within \($0.words)" } ?? "in time"
        switch error {
        case .refused(let status, let headers, let body):
            if let venue {
                self.init(venue, status: status, headers: headers, body: body, now: now)
            } else {
                self.init(status: status, headers: headers, body: body, now: now)
            }
        case .timedOut:
            self.init("the service did not open the WebSocket \(time): no answer came", cause: .upgrade)
        case .unfinished:
            self.init(
                "the service did not open the WebSocket \(time): its answer began and did not end",
                cause: .upgrade
            )
        case .invalidResponse(let reason):
            self.init("the service's answer is not a WebSocket handshake: \(reason)", cause: .upgrade)
        case .headersTooLarge:
            self.init("the header of the service's answer is too large", cause: .upgrade)
        case .connectionClosed:
            self.init("the service closed the connection instead of opening a WebSocket", cause: .upgrade)
        case .invalidRequest(let part):
            self.init(
                "the \(part) of the request cannot be sent: check the upstream address and the key",
                cause: .upgrade
            )
        }
    }

    /// Describes a failed TLS handshake.
    private init(tls error: TLSError) {
        self.init(error.hint.map { "\(error): \($0)" } ?? "\(error)", cause: .tls)
    }

    /// Describes a TLS error after the handshake: the address is right, and the peer speaks TLS.
    init(open error: TLSError) {
        switch error.kind {
        case .truncated:
            self.init("\(error)", cause: .lost)
        case .protocolViolation, .library:
            self.init("the encrypted stream is damaged: \(error.reason)", cause: .lost)
            self.isOurEnd = true
        case .configuration, .certificateRefused, .alertReceived, .versionRefused, .noCommonCipher,
            .noApplicationProtocol,
            .handshakeInterrupted, .timedOut:
            self.init("\(error)", cause: .tls)
        }
    }

    /// Describes a failed WebSocket handshake on a connection whose TLS handshake, if any, was complete.
    init(upgrading error: any Error) {
        switch error {
        case let error as TLSError:
            self.init(open: error)
            if self.cause == .lost { self.cause = .upgrade }
        case is IOError:
            self.init(
                "the service broke the connection instead of opening a WebSocket: \(Self.words(of: error))",
                cause: .upgrade
            )
        default:
            self.init(error)
            if self.cause == .lost { self.cause = .upgrade }
        }
    }

    /// Returns the system's text of an error, without the failed call and the error number.
    static func words(of error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }
}

extension WebSocketClosure {
    /// The reason why a mock server ended its recording; `nil` if the connection ended for another reason.
    var endOfReplay: String? {
        guard self.cause == .peerClosed else { return nil }
        let isEnd = self.code == .normal && self.reason == ReplayEnd.closeReason
        let isFailure = self.code == .internalError && self.reason == ReplayEnd.failureReason
        return isEnd || isFailure ? self.reason : nil
    }
}

extension TimeAmount {
    /// The duration as text: `5 s`, `250 ms`.
    var words: String {
        let nanoseconds = self.nanoseconds
        if nanoseconds % 1_000_000_000 == 0 { return "\(nanoseconds / 1_000_000_000) s" }
        return "\(nanoseconds / 1_000_000) ms"
    }
}
