import Glibc
package import NIOHTTP1
import NIOCore
import NIOPosix
import TLS
import WebSocket

/// Why an attempt failed or a connection ended, as a person and the supervisor must know it.
package struct UpstreamFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// What the supervisor does about it.
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

    package init(_ description: String, disposition: Disposition = .retry) {
        self.description = description
        self.disposition = disposition
    }
}

extension UpstreamFailure {
    /// The meaning of an answer that is not 101 (`reference`: what Finnhub and its edge are known to send).
    ///
    /// - Parameter retryAfter: the value of `Retry-After`, if there is one.
    package init(status: HTTPResponseStatus, retryAfter: String?, body: String) {
        let code = Int(status.code)
        let words = Self.firstLine(of: body)
        let detail = words.isEmpty ? "" : ": \(words)"
        switch code {
        case 401, 403:
            self.init(
                "the key was rejected (HTTP \(code)\(detail)): check FINNHUB_TOKEN, --token-file or `token` in the config",
                disposition: .keyRejected
            )
        case 429:
            // Finnhub also answers 429 to an empty key, and says so in the body.
            let cure = words.contains("sign up") ? "; is the key set?" : "; is the key in use elsewhere?"
            let seconds = retryAfter.flatMap { Int64($0) }.flatMap { (1...86_400).contains($0) ? $0 : nil }
            self.init(
                "too many connections (HTTP 429\(detail))\(cure)",
                disposition: .rateLimited(retryAfter: seconds.map { $0 * 1_000_000_000 })
            )
        case 200..<300:
            self.init("the service answered HTTP \(code) instead of opening a WebSocket\(detail)")
        case 300..<400:
            self.init("the service redirects (HTTP \(code)), which is not followed: check the upstream address")
        case 500..<600:
            self.init("the service is down (HTTP \(code)\(detail))")
        default:
            self.init("the service refused the connection (HTTP \(code)\(detail))")
        }
    }

    /// The start of a body as one printable line; a page of HTML is only named.
    private static func firstLine(of body: String) -> String {
        let trimmed = body.drop { $0.isWhitespace }
        if trimmed.first == "<" { return "a page of HTML" }
        let line = trimmed.prefix { !$0.isNewline }
        return String(line.unicodeScalars.prefix(120).map { $0.value < 0x20 || $0.value == 0x7f ? " " : Character($0) })
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
            self.init(upgrade: error)
        case let error as IOError:
            self.init("the connection broke: \(Self.words(of: error))")
        case ChannelError.eof, ChannelError.alreadyClosed, ChannelError.ioOnClosedChannel:
            self.init("the service closed the connection without an answer")
        default:
            self.init("the connection failed: \(error)")
        }
    }

    /// No TCP connection came to be.
    init(connecting error: any Error, to address: UpstreamAddress) {
        let place = "\(address.host) port \(address.port)"
        switch error {
        case ChannelError.connectTimeout:
            self.init("no answer from \(place): is the network up?")
        case let error as NIOConnectionError where !error.connectionErrors.isEmpty:
            let isRefused = error.connectionErrors.allSatisfy {
                ($0.error as? IOError)?.errnoCode == ECONNREFUSED
            }
            let words = error.connectionErrors.first.map { Self.words(of: $0.error) } ?? ""
            self.init(
                isRefused
                    ? "\(place) refuses connections: is the service running there?"
                    : "cannot connect to \(place): \(words)"
            )
        case is NIOConnectionError, is SocketAddressError:
            self.init("the name \(address.host) cannot be resolved: check the network and the upstream address")
        case let error as IOError:
            self.init("cannot connect to \(place): \(Self.words(of: error))")
        default:
            self.init("cannot connect to \(place): \(error)")
        }
    }

    /// A connection that was open has ended.
    init(_ ending: FinnhubHandler.Ending) {
        switch ending {
        case .closed(let closure):
            self.init(closure)
        case .failed(let error):
            self.init(error)
        case .silent(let nanoseconds):
            self.init("nothing arrived for \(nanoseconds / 1_000_000_000) s")
        case .stale(let silence):
            let others = silence.others == 0 ? "" : " and \(silence.others) more"
            self.init("no trade of \(silence.symbol)\(others) for \(silence.nanoseconds / 1_000_000_000) s")
        case .inactive:
            self.init("the connection was lost")
        }
    }

    private init(_ closure: WebSocketClosure) {
        let reason = closure.reason.isEmpty ? "" : ": \(Self.firstLine(of: closure.reason))"
        switch closure.cause {
        case .peerClosed:
            self.init(
                "the service closed the connection (\(closure.code.map { "\($0.rawValue)" } ?? "no code")\(reason))"
            )
        case .locallyClosed, .closeTimedOut:
            self.init("closed by this program")
        case .protocolViolation(let violation):
            self.init("the service broke the WebSocket protocol: \(violation.reason)")
        case .pongTimeout:
            self.init("our ping was not answered in time")
        case .connectionLost:
            self.init("the connection was lost without a close frame")
        }
    }

    private init(upgrade error: WebSocketUpgradeError) {
        switch error {
        case .refused(let status, let headers, let body):
            self.init(status: status, retryAfter: headers.first(name: "Retry-After"), body: body)
        case .timedOut:
            self.init("the service did not open the WebSocket in time")
        case .invalidResponse(let reason):
            self.init("the service's answer is no WebSocket handshake: \(reason)")
        case .headersTooLarge:
            self.init("the header of the service's answer is too large")
        case .connectionClosed:
            self.init("the service closed the connection instead of opening a WebSocket")
        case .invalidRequest(let part):
            self.init("the \(part) of the request cannot be sent: check the upstream address and the key")
        }
    }

    private init(tls error: TLSError) {
        switch error.kind {
        case .certificateRefused where error.reason.hasSuffix("(unknown CA)"):
            self.init("\(error): if the service uses an authority of its own, name its file with --ca-file")
        case .protocolViolation:
            self.init("\(error): is the upstream address that of a TLS service?")
        case .certificateRefused, .configuration, .alertReceived, .noApplicationProtocol, .handshakeInterrupted,
            .timedOut, .truncated, .library:
            self.init("\(error)")
        }
    }

    private static func words(of error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }
}

extension WebSocketClosure {
    /// Whether a stand-in says that its recording is over.
    var isEndOfRecording: Bool {
        self.cause == .peerClosed && self.code == .normal && self.reason == StandIn.endOfRecording
    }
}
