import HTTP
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

    package init(_ settings: MockServerSettings, source: ReplaySource) {
        self.settings = settings
        self.source = source
        self.limit = settings.connectionLimit
        self.holders = settings.oneConnectionPerKey.map(KeyHolders.init(rule:))
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

    /// Returns the real service's refusal of a WebSocket, or `nil`. Any key is valid, but one is required.
    func refusal(of head: HTTPRequestHead) -> HTTPAnswer? {
        guard let key = Self.key(in: head) else {
            return MockServerAnswers.error(.unauthorized, "Invalid API key")
        }
        if self.source.isBroken { return MockServerAnswers.error(.serviceUnavailable, "the recording has a gap here") }
        if let start = head.parameter("start") {
            do throws(ReplaySource.Misplaced) {
                _ = try self.source.place(start)
            } catch {
                return MockServerAnswers.error(.badRequest, error.reason)
            }
        }
        if self.holders?.refuses(key) == true {
            return MockServerAnswers.error(
                .tooManyRequests,
                "API limit reached. Please try again later. Remaining Limit: 0"
            )
        }
        return nil
    }

    /// Notes the open of a WebSocket, and drops the connections that lose the key.
    func opened(_ number: Int, _ head: HTTPRequestHead) {
        guard self.holders != nil, let key = Self.key(in: head) else { return }
        self.clients[number]?.key = key
        for loser in self.holders?.opened(key, by: number) ?? [] {
            self.clients[loser]?.line?.drop()
        }
    }

    /// Makes the handler of an open WebSocket.
    package func makeHandler(
        _ head: HTTPRequestHead,
        line: FaultyLine?,
        go: EventLoopFuture<Void>,
        logger: Logger
    ) -> MockServerHandler {
        let source = self.source
        let start = head.parameter("start").flatMap { try? source.place($0) }
        return MockServerHandler(
            settings: self.settings,
            known: source.material.allSymbols,
            line: line,
            go: go,
            logger: logger,
            sharing: source.sharing(start: start),
            makePlayer: { () throws(RecordingFailure) in try source.player(start: start) }
        )
    }

    func ended(_ number: Int) {
        if let key = self.clients.removeValue(forKey: number)?.key { self.holders?.ended(key, by: number) }
    }

    /// Ends every connection.
    func stop() {
        self.source.shared?.stop()
        for client in self.clients.values { client.line?.stop() }
    }

    private static func key(in head: HTTPRequestHead) -> String? {
        head.parameter("token") ?? head.headers.first(name: "X-Finnhub-Token")
    }
}
