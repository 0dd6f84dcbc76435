import HTTP
import Market
import NIOConcurrencyHelpers
package import NIOCore
import NIOHTTP1
package import TLS
import WebSocket
package import Wire

/// The settings of requests to a REST service: Finnhub's, a relay's or a venue's.
package struct ServiceSettings: Sendable, Equatable {
    /// The base address; its path precedes the path of every request.
    package var address: UpstreamAddress
    /// Without a key no request is made, except to a relay.
    package var key: Secret?
    /// Whether the service is a relay. Its token travels as `Authorization: Bearer`; a relay may need none.
    package var isRelay = false
    /// The venue whose own service it is; it needs no key.
    package var venue: Venue?
    package var dial = DialSettings()
    /// The limit for a whole exchange, up to the last byte of the answer.
    package var timeout: TimeAmount = .seconds(15)
    /// The largest accepted body, in bytes; the symbol list of an exchange has some MB.
    package var maximumBytes = 16 << 20

    package init(address: UpstreamAddress = .finnhubService, key: Secret? = nil) {
        self.address = address
        self.key = key
    }
}

extension ServiceSettings {
    /// The settings of the connector, whose last limit is that of the whole exchange.
    fileprivate var connector: ConnectorSettings {
        var dial = self.dial
        dial.upgradeTimeout = self.timeout
        return ConnectorSettings(
            address: self.address,
            target: self.address.path,
            dial: dial,
            webSocket: WebSocketSettings(role: .client)
        )
    }
}

/// A client of a REST service: one GET a connection, over this program's own TLS.
///
/// Calls are rare (a list a day, headlines every few minutes), so no connection is kept. The key travels in a header,
/// never in a URL, and never appears in the description of a failure.
package final class ServiceClient: Sendable {
    private let settings: ServiceSettings
    /// The key of the next request.
    private let key: NIOLockedValueBox<Secret?>
    private let connector: UpstreamConnector
    private let group: any EventLoopGroup
    /// Nanoseconds since 1970.
    private let wallClock: @Sendable () -> Int64

    /// - Throws: ``TLSError`` if the trust roots cannot be used.
    package convenience init(
        _ settings: ServiceSettings,
        on group: any EventLoopGroup,
        wallClock: @escaping @Sendable () -> Int64
    ) throws(TLSError) {
        try self.init(settings, on: group, resolver: .system, wallClock: wallClock)
    }

    convenience init(
        _ settings: ServiceSettings,
        on group: any EventLoopGroup,
        resolver: NameResolver,
        wallClock: @escaping @Sendable () -> Int64
    ) throws(TLSError) {
        let connector = try UpstreamConnector(settings.connector, resolver: resolver, wallClock: wallClock)
        self.init(settings, on: group, connector: connector, wallClock: wallClock)
    }

    /// Makes a client that reads the trust files with its first request, and not here.
    convenience init(
        readingLater settings: ServiceSettings,
        on group: any EventLoopGroup,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        let connector = UpstreamConnector(
            readingLater: settings.connector,
            sockets: SocketPathConnector(),
            wallClock: wallClock
        )
        self.init(settings, on: group, connector: connector, wallClock: wallClock)
    }

    private init(
        _ settings: ServiceSettings,
        on group: any EventLoopGroup,
        connector: UpstreamConnector,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.settings = settings
        self.key = NIOLockedValueBox(settings.key)
        self.group = group
        self.connector = connector
        self.wallClock = wallClock
    }

    /// The base address.
    var address: UpstreamAddress { self.settings.address }

    /// Uses another key from the next request on.
    package func keyChanged(to key: Secret) { self.key.withLockedValue { $0 = key } }

    /// Requests a path below the base address.
    ///
    /// - Parameters:
    ///   - path: begins with a slash.
    ///   - query: names and values, not yet escaped.
    /// - Returns: the body of an answer with status 200. It does not hold the key, and is otherwise unchecked.
    package func get(_ path: String, query: [(String, String)] = []) async -> Result<ByteBuffer, ServiceFailure> {
        let parts = query.map { "\(PercentText.encoded($0.0))=\(PercentText.encoded($0.1))" }
        return await self.get(target: path + (parts.isEmpty ? "" : "?\(parts.joined(separator: "&"))")).result
    }

    /// Requests a path and query below the base address, as ``get(_:query:)`` does.
    ///
    /// - Parameter target: begins with a slash, and is escaped.
    /// - Returns: also the headers of an answer, whatever its status.
    func get(target: String) async -> (result: Result<ByteBuffer, ServiceFailure>, headers: HTTPHeaders) {
        let key = self.key.withLockedValue { $0 } ?? Secret("")
        let needsKey = !self.settings.isRelay && self.settings.venue == nil
        guard !key.reveal().isEmpty || !needsKey else { return (.failure(.noKey), [:]) }
        guard let shown = key.serviceHeader else {
            let failure = ServiceFailure(
                .keyRejected,
                "the key has characters that a header cannot carry",
                cure: "check FINNHUB_TOKEN or its file"
            )
            return (.failure(failure), [:])
        }
        let header: (String, String)? =
            if key.reveal().isEmpty { nil } else if self.settings.isRelay { key.bearer } else { shown }
        do {
            switch try await self.outcome(of: self.base + target, header: header) {
            case .success(let answer): return (self.result(answer, key), answer.head.headers)
            case .failure(let failure):
                return (.failure(self.redacted(ServiceFailure(failure, self.settings), key)), [:])
            }
        } catch {
            let failure = error as? UpstreamFailure ?? UpstreamFailure(error)
            return (.failure(self.redacted(ServiceFailure(failure), key)), [:])
        }
    }

    private func result(_ answer: OutgoingExchange.Answer, _ key: Secret) -> Result<ByteBuffer, ServiceFailure> {
        guard answer.head.status == .ok else {
            let now = self.wallClock()
            var failure =
                self.settings.venue.map { ServiceFailure(answer, of: $0, now: now) }
                ?? ServiceFailure(answer, now: now)
            failure.status = answer.head.status.code
            return .failure(self.redacted(failure, key))
        }
        // The lists go to the relay's clients and to files.
        guard !KeyDetector(key).occurs(in: answer.body.readableBytesView) else {
            return .failure(
                ServiceFailure(.unreadableAnswer, "the answer repeats the key", cure: "check service.url")
            )
        }
        return .success(answer.body)
    }

    private func redacted(_ failure: ServiceFailure, _ key: Secret) -> ServiceFailure {
        var (reason, cure) = (key.redacted(failure.reason), failure.cure.map { key.redacted($0) })
        if let venue = self.settings.venue {
            // Its address is another setting.
            reason = reason.replacing("service.url", with: venue.serviceSetting)
            cure = cure?.replacing("service.url", with: venue.serviceSetting)
        }
        return ServiceFailure(failure.kind, reason, cure: cure, status: failure.status)
    }

    /// The path of the base address, which precedes every target.
    private var base: Substring {
        let path = self.settings.address.path
        return path.hasSuffix("/") ? path.dropLast() : path[...]
    }

    private func outcome(of target: String, header: (String, String)?) async throws -> OutgoingExchange.Outcome {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target)
        head.headers = [
            "Host": self.settings.address.authority, "User-Agent": "tickertape", "Accept": "application/json",
            "Accept-Encoding": "identity", "Connection": "close",
        ]
        if let header { head.headers.add(name: header.0, value: header.1) }
        let exchange = OutgoingExchange(
            head,
            timeout: self.settings.timeout,
            maximumBytes: self.settings.maximumBytes
        )
        return try await exchange.run(on: self.group.next(), opening: self.connector.open).get()
    }
}
