import HTTP
import CoreMetrics
package import Logging
import Market
package import Measurements
import NIOConcurrencyHelpers
package import NIOCore
import NIOTLS
import Platform
package import TLS

/// The relay's certificate, which can be replaced while clients stay, and the counts of its handshakes.
///
/// A connection keeps its first context; a new connection gets the newest one.
package final class RelayTLS: Sendable {
    /// The two PEM files.
    package struct Files: Sendable, Equatable {
        /// The path of the certificate, followed by its chain in the same file.
        package var certificate: String
        /// The key's path.
        package var key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    private struct State {
        var context: TLSContext
        var facts: CertificateFacts
    }

    /// The files that were loaded, and that ``reload()`` loads again.
    package let files: Files
    /// The warnings about the first pair, one line each.
    package let warnings: [String]
    /// The limit of a TLS handshake.
    package let handshakeTimeout: TimeAmount
    private let ciphers: TLSCipherList
    private let logger: Logger
    private let state: NIOLockedValueBox<State>
    private let handshakes: (full: Counter, resumed: Counter)
    private let failures: [String: Counter]
    private let plainRequests: Counter
    private let expiry: Meter

    /// Loads the pair.
    ///
    /// - Parameters:
    ///   - handshakeTimeout: the limit of a TLS handshake.
    ///   - ciphers: the cipher suites accepted with TLS 1.2.
    /// - Throws: ``TLSError``, whose description names the file and the remedy in one line.
    package init(
        files: Files,
        handshakeTimeout: TimeAmount = .seconds(10),
        ciphers: TLSCipherList = .standard,
        instruments: Instruments,
        logger: Logger
    ) throws(TLSError) {
        let (context, pair) = try Self.load(files, handshakeTimeout: handshakeTimeout, ciphers: ciphers)
        self.ciphers = ciphers
        self.files = files
        self.warnings = pair.warnings
        self.handshakeTimeout = handshakeTimeout
        self.logger = logger
        self.state = NIOLockedValueBox(State(context: context, facts: pair.facts))
        let registry = instruments.registry
        registry.describe(MetricName.tlsHandshakes, "TLS handshakes with clients that were completed.")
        registry.describe(MetricName.tlsFailures, "TLS connections of clients that failed, by kind.")
        registry.describe(MetricName.tlsExpiry, "When the relay's certificate expires, seconds since 1970.")
        func handshakes(_ isResumed: Bool) -> Counter {
            Counter(label: MetricName.tlsHandshakes, dimensions: [("resumed", "\(isResumed)")], factory: registry)
        }
        func failures(_ word: String) -> Counter {
            Counter(label: MetricName.tlsFailures, dimensions: [("kind", word)], factory: registry)
        }
        self.handshakes = (handshakes(false), handshakes(true))
        self.failures = Dictionary(uniqueKeysWithValues: TLSError.Kind.allCases.map { ($0.word, failures($0.word)) })
        self.plainRequests = failures("plain-http")
        self.expiry = Meter(label: MetricName.tlsExpiry, factory: registry)
        self.expiry.set(pair.facts.notAfter)
    }

    private static func load(
        _ files: Files,
        handshakeTimeout: TimeAmount,
        ciphers: TLSCipherList
    ) throws(TLSError) -> (TLSContext, ServerPair) {
        let pair = try ServerPair.load(certificate: files.certificate, key: files.key)
        var configuration = TLSServerConfiguration(credentials: pair.credentials)
        configuration.handshakeTimeout = handshakeTimeout
        configuration.ciphers = ciphers
        return (try TLSContext(server: configuration), pair)
    }

    /// The facts of the certificate in force.
    package var facts: CertificateFacts { self.state.withLockedValue { $0.facts } }

    /// Loads the pair again, for new connections. It reads files, so it must not be called on an event loop.
    ///
    /// An unusable pair changes nothing. Returns lines for people: the result first, then the warnings.
    package func reload() -> [String] {
        let (context, pair): (TLSContext, ServerPair)
        do throws(TLSError) {
            (context, pair) = try Self.load(
                self.files,
                handshakeTimeout: self.handshakeTimeout,
                ciphers: self.ciphers
            )
        } catch {
            return ["the new certificate is not used, the one before stays: \(error)"]
        }
        let isNew = self.state.withLockedValue { state in
            let isNew = state.facts != pair.facts
            state.context = context
            state.facts = pair.facts
            return isNew
        }
        self.expiry.set(pair.facts.notAfter)
        let what =
            isNew
            ? "new connections get the certificate with the fingerprint \(pair.facts.fingerprint)"
            : "the certificate is the same as before"
        return ["loaded \(self.files.certificate) again: \(what)"] + pair.warnings
    }

    // MARK: Connections

    /// Returns the handlers that precede those of HTTP.
    func makeHandlers() -> [any ChannelHandler] {
        let handler = TLSHandler(context: self.state.withLockedValue { $0.context }, peer: nil)
        return [FirstByteHandler(tls: self, handler: handler), handler, TLSWatchHandler(tls: self, handler: handler)]
    }

    fileprivate func completed(_ session: TLSSession?) {
        (session?.isResumed == true ? self.handshakes.resumed : self.handshakes.full).increment()
    }

    fileprivate func failed(_ error: TLSError) {
        self.failures[error.kind.word]?.increment()
        self.logger.info("A client's TLS connection failed", metadata: ["reason": "\(error)"])
    }

    fileprivate func cameWithoutTLS() { self.plainRequests.increment() }
}

/// A check of a connection's first byte, so that a client with plain HTTP gets an answer that says what is wrong.
///
/// A TLS connection begins with a handshake record (22, RFC 8446, 5.1), a request with a letter.
private final class FirstByteHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let tls: RelayTLS
    private let handler: TLSHandler

    init(tls: RelayTLS, handler: TLSHandler) {
        self.tls = tls
        self.handler = handler
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        guard let first = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) else { return }
        let pipeline = context.pipeline.syncOperations
        switch first {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            self.tls.cameWithoutTLS()
            _ = pipeline.removeHandler(self.handler)
            context.fireUserInboundEventTriggered(RequestWithoutTLS())
        default:
            context.fireChannelRead(data)
        }
        _ = pipeline.removeHandler(context: context)
    }
}

/// A counter of the results of one client's TLS handshake.
private final class TLSWatchHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let tls: RelayTLS
    private let handler: TLSHandler

    init(tls: RelayTLS, handler: TLSHandler) {
        self.tls = tls
        self.handler = handler
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { self.tls.completed(self.handler.session) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? TLSError { self.tls.failed(error) }
        context.fireErrorCaught(error)
    }
}

extension TLSError.Kind {
    /// A stable word for programs.
    var word: String {
        switch self {
        case .configuration: "configuration"
        case .certificateRefused: "certificate-refused"
        case .alertReceived: "alert"
        case .versionRefused: "version"
        case .noCommonCipher: "cipher"
        case .noApplicationProtocol: "application-protocol"
        case .protocolViolation: "protocol"
        case .handshakeInterrupted: "interrupted"
        case .timedOut: "timeout"
        case .truncated: "truncated"
        case .library: "library"
        }
    }
}
