package import HTTP
package import Logging
import Market
package import NIOCore
package import NIOHTTP1
import Recordings
import WebSocket
import Wire

/// The connection table of a mock server: its connections by number, with their keys. Belongs to its loop.
package final class MockServerClients {
    private struct Client {
        var line: FaultyLine?
        var key: String?
    }

    private let settings: MockServerSettings
    private let source: ReplaySource
    private let limit: Int
    private var holders: KeyHolders?
    private var clients: [Int: Client] = [:]
    private var newest = 0
    private let protocols: MockProtocols
    /// The counts of attempts, by the dialect of the upstream that limits them.
    private let budgets: [FrameDialect: AttemptCount]
    /// The REST services of the venues that the server speaks for, by the dialect of their connections.
    private let rest: [FrameDialect: VenueRestService]

    package init(_ settings: MockServerSettings, source: ReplaySource) {
        self.settings = settings
        self.source = source
        self.limit = settings.connectionLimit
        self.protocols = MockProtocols(source.material.dialects)
        self.holders = settings.oneConnectionPerKey.map(KeyHolders.init(rule:))
        var budgets: [FrameDialect: AttemptCount] = [:]
        var rest: [FrameDialect: VenueRestService] = [:]
        for dialect in source.material.dialects {
            guard let upstream = MockProtocols.of(dialect) else { continue }
            budgets[dialect] = upstream.attemptLimit.map(AttemptCount.init)
            guard let venue = Venue.allCases.first(where: { $0.dialect == dialect }) else { continue }
            rest[dialect] = VenueRestService(
                of: venue,
                trades: source.played,
                known: Set(source.material.symbols.map(upstream.symbol)),
                faults: settings.faults,
                // Kraken's REST service and its WebSocket have the same addresses.
                attempts: venue == .kraken ? budgets[dialect] : nil,
                start: source.now
            )
        }
        self.budgets = budgets
        self.rest = rest
    }

    /// Adds a new connection; returns its number, counted from 1, or `nil` if there are too many.
    func accepted() -> Int? {
        guard self.clients.count < self.limit else { return nil }
        self.newest += 1
        self.clients[self.newest] = Client()
        return self.newest
    }

    func add(_ number: Int, _ line: FaultyLine) {
        self.clients[number]?.line = line
    }

    /// Returns the protocol of a request.
    func upstream(of head: HTTPRequestHead) -> any MockProtocol { self.protocols.of(head) }

    /// Answers a request for something other than a WebSocket.
    ///
    /// - Parameter number: the connection's number, for reports of faults; `nil` reports nothing.
    package func answer(_ head: HTTPRequestHead, number: Int? = nil) -> MockAnswer {
        let upstream = self.protocols.of(head)
        let material = self.source.material
        func list() -> HTTPAnswer { upstream.answer(head, symbols: material.symbols.map(upstream.symbol)) }
        guard let service = self.rest[upstream.dialect] else {
            return MockAnswer(upstream.objection(to: head) ?? list())
        }
        let answer = service.answer(head, now: self.source.now, list: list)
        if let number { for fault in answer.faults { self.settings.faultHappened(number, fault) } }
        return answer
    }

    /// Returns the real service's refusal of a WebSocket, or `nil`.
    package func refusal(of head: HTTPRequestHead) -> HTTPAnswer? {
        let upstream = self.protocols.of(head)
        if let refusal = self.attempted(upstream) ?? upstream.refusal(of: head) { return refusal }
        if self.source.isBroken { return upstream.error(.serviceUnavailable, "the recording has a gap here") }
        if let start = head.parameter("start") {
            do throws(ReplaySource.Misplaced) {
                _ = try self.source.place(start)
            } catch {
                return upstream.error(.badRequest, error.reason)
            }
        }
        if let key = upstream.key(in: head), self.holders?.refuses(key) == true {
            return upstream.error(
                .tooManyRequests,
                "API limit reached. Please try again later. Remaining Limit: 0"
            )
        }
        return nil
    }

    /// Counts an attempt against the upstream's limit; returns its refusal, or `nil`.
    private func attempted(_ upstream: any MockProtocol) -> HTTPAnswer? {
        guard let refusal = self.budgets[upstream.dialect]?.attempted(now: self.source.now) else { return nil }
        let headers = refusal.retryAfter.map { HTTPHeaders([("Retry-After", "\($0)")]) } ?? [:]
        let status = HTTPResponseStatus(statusCode: refusal.status)
        return .text(status, upstream.body(of: refusal.status), headers: headers)
    }

    /// Notes that a client has broken a rule of its upstream.
    private func broken(_ upstream: any MockProtocol) {
        self.budgets[upstream.dialect]?.broken(now: self.source.now)
    }

    /// Notes the open of a WebSocket, and drops the connections that lose the key.
    func opened(_ number: Int, _ head: HTTPRequestHead) {
        guard self.holders != nil, let key = self.protocols.of(head).key(in: head) else { return }
        self.clients[number]?.key = key
        for loser in self.holders?.opened(key, by: number) ?? [] {
            self.clients[loser]?.line?.drop()
        }
    }

    /// Makes the handler of an open WebSocket.
    ///
    /// - Parameter number: the connection's number, for reports; `nil` reports nothing.
    package func makeHandler(
        number: Int? = nil,
        _ head: HTTPRequestHead,
        line: FaultyLine?,
        go: EventLoopFuture<Void>,
        logger: Logger
    ) -> MockServerHandler {
        let source = self.source
        let start = head.parameter("start").flatMap { try? source.place($0) }
        let upstream = self.protocols.of(head)
        let session = upstream.makeSession(
            MockSessionOpening(
                known: source.material.allSymbols.map { Set($0.map(upstream.symbol)) },
                symbolLimit: self.settings.symbolLimit,
                pingInterval: self.settings.pingInterval?.nanoseconds,
                hasKeepalive: self.settings.keepaliveInterval != nil,
                hasHeartbeats: self.settings.pingInterval != nil,
                uri: head.uri,
                wallClock: source.wallClock
            )
        )
        let happened = self.settings.faultHappened
        return MockServerHandler(
            settings: self.settings,
            session: session,
            line: line,
            go: go,
            logger: logger,
            sharing: source.sharing(start: start),
            makePlayer: { () throws(RecordingFailure) in try source.player(start: start) },
            disconnected: { [weak self] reason in
                if let number { happened(number, "disconnected: \(reason)") }
                self?.broken(upstream)
            }
        )
    }

    func ended(_ number: Int) {
        if let key = self.clients.removeValue(forKey: number)?.key { self.holders?.ended(key, by: number) }
    }

    /// Calls `report` with one line if the shared player cannot begin for long.
    func watchStart(_ report: @escaping (String) -> Void) { self.source.shared?.startDelayed = report }

    /// Ends every connection.
    func stop() {
        self.source.shared?.stop()
        for client in self.clients.values { client.line?.stop() }
    }
}
