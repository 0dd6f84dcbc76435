import Feeds
import HTTP
import Relay
import Terminal
import Testing
@testable import Tickertape

@Suite("The relay's state on the screen")
struct RelayStateTests {
    private static func place(listen: Endpoint?, socket: String? = nil) -> RelayPlace? {
        var settings = Settings()
        settings.relay.listen = listen
        settings.relay.unixSocket = socket
        return RelayPlace(settings, inherited: nil, isEncrypted: false)
    }

    @Test("has an address only while the relay listens, and none with the relay off")
    func own() throws {
        #expect(Self.place(listen: nil) == nil)
        let state = RelayState(try #require(Self.place(listen: Endpoint(host: "127.0.0.1", port: 0))))
        #expect(state.shown == .waiting(reason: nil))
        #expect(state.become(.waiting("address already in use")))
        #expect(state.shown == .waiting(reason: "address already in use"))
        #expect(state.become(.open(Endpoint(host: "127.0.0.1", port: 4_711))))
        #expect(state.shown == .open("ws://127.0.0.1:4711"))
        #expect(state.become(.closed) && state.shown == .closed)
        #expect(!state.become(.open(nil)) && state.shown == .closed)
    }

    @Test("has the path of a socket where that is the only place")
    func socket() throws {
        let state = RelayState(try #require(Self.place(listen: nil, socket: "/run/t.sock")))
        #expect(state.shown == .waiting(reason: nil))
        #expect(state.become(.open(nil)) && state.shown == .open("ws+unix:/run/t.sock"))
    }

    @Test("has another program's address only where that program has announced its relay")
    func others() throws {
        let endpoint = Endpoint(host: "127.0.0.1", port: 8_080)
        let state = RelayState(try #require(Self.place(listen: endpoint)))
        let reason = "another tickertape with this key is starting"
        for owner in [nil, KeyOwner(pid: 7, relay: .unknown)] {
            _ = state.become(.others(owner))
            #expect(state.shown == .waiting(reason: reason))
        }
        let address = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 8_080)
        _ = state.become(.others(KeyOwner(pid: 7, relay: .at(address))))
        #expect(state.shown == .others("ws://127.0.0.1:8080", pid: 7))
    }
}
