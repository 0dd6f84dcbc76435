import NIOConcurrencyHelpers
import Relay
import Terminal

/// What has become of the relay, as a screen shows it. From any thread.
final class RelayState: Sendable {
    enum Phase: Equatable {
        /// It does not listen yet; with the reason, if one is known.
        case waiting(String?)
        /// The address is that of another program's relay.
        case others(Int32?)
        /// It listens at this address, or at the socket file alone.
        case open(Endpoint?)
        case closed
    }

    private struct State {
        var phase = Phase.waiting(nil)
        /// Where it listens, or is to.
        var url: String
    }

    private let place: RelayPlace
    private let state: NIOLockedValueBox<State>

    init(_ place: RelayPlace) {
        self.place = place
        self.state = NIOLockedValueBox(State(url: place.url(at: nil)))
    }

    var shown: DisplayRelay {
        self.state.withLockedValue { state in
            switch state.phase {
            case .waiting(let reason): .waiting(state.url, reason: reason)
            case .others(let pid): .others(state.url, pid: pid)
            case .open: .open(state.url)
            case .closed: .closed(state.url)
            }
        }
    }

    /// Changes the phase; returns whether it is another one.
    func become(_ phase: Phase) -> Bool {
        self.state.withLockedValue { state in
            // A closed relay stays closed.
            guard state.phase != phase, state.phase != .closed else { return false }
            state.phase = phase
            if case .open(let endpoint) = phase { state.url = self.place.url(at: endpoint) }
            return true
        }
    }
}
