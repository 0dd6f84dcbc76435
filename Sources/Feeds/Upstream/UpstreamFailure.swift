import Glibc
package import Market
import NIOCore
import NIOPosix
import TLS
import WebSocket
import Wire

/// Why an attempt failed or a connection ended, as a person and the feed must know it.
package struct UpstreamFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// What the feed does about it.
    package enum Disposition: Sendable, Equatable {
        /// Climb the ladder.
        case retry
        /// The service asks to wait; nanoseconds if it said how long.
        case rateLimited(retryAfter: Int64?)
        /// Only a person can mend it: the key is not accepted.
        case keyRejected
        /// A replay is over.
        case ended
    }

    package var disposition: Disposition
    /// One line with the cure where there is one; never holds a key.
    package var description: String
    /// What kind of trouble it is, for counting.
    package var cause: FeedStatus.Cause
    /// For how long whoever answered asks not to be asked again, in nanoseconds; more than 0, at most
    /// ``RetryAfter/limit``.
    package var retryAfter: Int64?
    /// Whether this program ended a connection that was open: that says nothing about who else uses the key.
    package var isOurEnd = false

    package init(_ description: String, cause: FeedStatus.Cause = .other, disposition: Disposition = .retry) {
        self.description = description
        self.cause = cause
        self.disposition = disposition
    }
}

extension UpstreamFailure {
    /// What went wrong on the way to an open WebSocket.
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

    /// A connection that was open has ended.
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

    /// No WebSocket came of a connection.
    ///
    /// - Parameters:
    ///   - limit: the time that the service had.
    ///   - now: nanoseconds since 1970.
    init(upgrade error: WebSocketUpgradeError, within limit: TimeAmount?, now: Int64) {
        let time = limit.map { "within \($0.words)" } ?? "in time"
        switch error {
        case .refused(let status, let headers, let body):
            self.init(status: status, headers: headers, body: body, now: now)
        case .timedOut:
            self.init("the service did not open the WebSocket \(time): no answer came", cause: .upgrade)
        case .unfinished:
            self.init(
                "the service did not open the WebSocket \(time): its answer began and did not end",
                cause: .upgrade
            )
        case .invalidResponse(let reason):
            self.init("the service's answer is no WebSocket handshake: \(reason)", cause: .upgrade)
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

    /// A handshake failed.
    private init(tls error: TLSError) {
        self.init(error.hint.map { "\(error): \($0)" } ?? "\(error)", cause: .tls)
    }

    /// A connection broke whose handshake was complete: the address is right, and the peer speaks TLS.
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

    /// No WebSocket came of a connection whose TLS, if it has any, was complete.
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

    /// An error in the system's words, without the calls and numbers around them.
    static func words(of error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }
}

extension WebSocketClosure {
    /// Why a mock server plays no more of its recording; `nil` if that is not why the connection ended.
    var endOfReplay: String? {
        guard self.cause == .peerClosed else { return nil }
        let isEnd = self.code == .normal && self.reason == ReplayEnd.closeReason
        let isFailure = self.code == .internalError && self.reason == ReplayEnd.failureReason
        return isEnd || isFailure ? self.reason : nil
    }
}

extension TimeAmount {
    /// `5 s`, `250 ms`.
    var words: String {
        let nanoseconds = self.nanoseconds
        if nanoseconds % 1_000_000_000 == 0 { return "\(nanoseconds / 1_000_000_000) s" }
        return "\(nanoseconds / 1_000_000) ms"
    }
}
