import Feeds
import HTTP
import Ingest
import Logging
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Relay
import Testing
import TickertapeTesting
import Wire
@testable import Terminal
@testable import Tickertape

/// The rooms of a screen at a relay in this process.
@Suite("The rooms of a screen", .timeLimit(.minutes(2 * Patience.factor)))
struct ScreenRoomTests {
    private static let silent = Logger(label: "room") { _ in SwiftLogNoOpLogHandler() }

    private static func relay(rooms: Bool = true, on loop: any EventLoop) async throws -> (RelayServer, Int) {
        var settings = RelaySettings(listen: Endpoint(host: "127.0.0.1", port: 0))
        settings.rooms = rooms
        let relay = RelayServer(
            settings: settings,
            subscriptions: Subscriptions(Subscriptions.Settings(linger: .zero), retained: ["A"], loop: loop),
            eventLoop: loop,
            logger: Self.silent,
            status: FeedStatus(source: .live, phase: .connecting, since: 0)
        )
        return (relay, try #require(try await relay.start().port))
    }

    /// A screen's client of rooms, with the states that it shows.
    private struct Screen {
        let rooms: ScreenRoomService
        private let shown = NIOLockedValueBox<[DisplayRoom]>([])

        init(_ port: @escaping @Sendable () -> Int?, on loop: any EventLoop) {
            var settings = RoomConnection.Settings {
                port().map { UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: $0) }
            }
            settings.backoff.first = 1_000_000
            settings.backoff.floor = 0
            self.rooms = ScreenRoomService(settings, loop: loop, logger: ScreenRoomTests.silent)
        }

        func enter(_ name: String) {
            self.rooms.enter(name) { [shown] room in shown.withLockedValue { $0.append(room) } }
        }

        var newest: DisplayRoom? { self.shown.withLockedValue { $0.last } }

        /// Waits until the newest state is as expected; returns whether it is.
        func shows(_ isExpected: (DisplayRoom) -> Bool) async -> Bool {
            for _ in 0..<(2_000 * Patience.factor) {
                if let newest, isExpected(newest) { return true }
                try? await Task.sleep(for: .milliseconds(5))
            }
            return false
        }
    }

    @Test("two screens talk in a symbol's room, see who comes and goes, and each message as the relay sends it")
    func talk() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (relay, port) = try await Self.relay(on: loop)
        let (ann, bob) = (Screen({ port }, on: loop), Screen({ port }, on: loop))
        for screen in [ann, bob] {
            screen.enter("BINANCE:BTCUSDT")
            #expect(await screen.shows { $0.link == .open })
        }
        ann.rooms.submit(.name("ann"), number: 1)
        #expect(await ann.shows { $0.own?.name == "ann" && $0.outcome?.number == 1 })
        bob.rooms.submit(.name("ANN"), number: 1)
        #expect(await bob.shows { $0.problem?.contains("has the name ANN") == true && $0.outcome?.isRefused == true })
        bob.rooms.submit(.name("bob"), number: 2)
        ann.rooms.submit(.message("hi ü"), number: 2)
        #expect(await bob.shows { $0.own != nil && $0.entries.contains { $0.user == "ann" && $0.text == "hi ü" } })
        #expect(await ann.shows { $0.outcome == .init(number: 2, isRefused: false) && $0.users.count == 2 })
        bob.enter("A")
        #expect(await ann.shows { $0.users.count == 1 && $0.entries.last?.text == "bob has left" })
        #expect(await bob.shows { $0.name == "A" && $0.link == .open && $0.entries.isEmpty })
        bob.enter("BINANCE:BTCUSDT")
        #expect(await bob.shows { $0.entries.map(\.text) == ["hi ü"] && $0.users.map(\.name) == ["ann"] })
        for screen in [ann, bob] { screen.rooms.leave() }
        let later = Screen({ port }, on: loop)
        later.enter("BINANCE:BTCUSDT")
        #expect(await later.shows { $0.link == .open && $0.users.isEmpty })
        later.rooms.leave()
        await relay.stop()
    }

    @Test("after the relay's restart, at another place too, the room is entered again in the same name")
    func restart() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (first, firstPort) = try await Self.relay(on: loop)
        let port = NIOLockedValueBox<Int?>(firstPort)
        let screen = Screen({ port.withLockedValue { $0 } }, on: loop)
        screen.enter("A")
        #expect(await screen.shows { $0.link == .open })
        screen.rooms.submit(.name("ann"), number: 1)
        #expect(await screen.shows { $0.own != nil })
        port.withLockedValue { $0 = nil }
        await first.stop()
        #expect(await screen.shows { $0.link == .lost("the relay is not open") && $0.own == nil })
        let (second, secondPort) = try await Self.relay(on: loop)
        port.withLockedValue { $0 = secondPort }
        #expect(await screen.shows { $0.link == .open && $0.own?.name == "ann" && $0.users.count == 1 })
        screen.rooms.leave()
        await second.stop()
    }

    @Test("a relay without rooms is a reason in words")
    func off() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (relay, port) = try await Self.relay(rooms: false, on: loop)
        let screen = Screen({ port }, on: loop)
        screen.enter("A")
        #expect(
            await screen.shows {
                if case .lost(let reason) = $0.link { reason.contains("relay.rooms: true") } else { false }
            },
            "\(String(describing: screen.newest))"
        )
        screen.rooms.leave()
        await relay.stop()
    }
}
