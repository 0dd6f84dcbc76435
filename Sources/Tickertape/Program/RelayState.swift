import Feeds
import NIOConcurrencyHelpers
import HTTP
import Terminal

/// The state of the relay, for the screen. May be used on any thread.
final class RelayState: Sendable {
    enum Phase: Equatable {
        /// It does not listen yet, for the given reason if one is known.
        case waiting(String?)
        /// Another program has the relay's address.
        case others(KeyOwner?)
        /// It listens on this address; `nil` if it has a Unix socket only.
        case open(Endpoint?)
        case closed
    }

    private struct State {
        var phase = Phase.waiting(nil)
        /// The present or future URL of the relay.
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
            case .waiting(let reason): .waiting(reason: reason)
            case .others(let owner):
                switch owner?.relay {
                case .at: .others(state.url, pid: owner?.pid)
                case .unknown, .off, nil: .waiting(reason: "another tickertape with this key is starting")
                }
            case .open: .open(state.url)
            case .closed: .closed
            }
        }
    }

    /// The address of the relay for programs of this machine: this program's, or that of the program that has its
    /// place; `nil` while there is no relay.
    var address: UpstreamAddress? {
        switch self.state.withLockedValue({ $0.phase }) {
        case .open(let endpoint): return self.place.address(at: endpoint)
        case .others(let owner):
            if case .at(let address)? = owner?.relay { return address }
            return nil
        case .waiting, .closed: return nil
        }
    }

    /// Changes the phase; returns whether it differs from the old one.
    func become(_ phase: Phase) -> Bool {
        self.state.withLockedValue { state in
            // Closed is final.
            guard state.phase != phase, state.phase != .closed else { return false }
            state.phase = phase
            if case .open(let endpoint) = phase { state.url = self.place.url(at: endpoint) }
            return true
        }
    }
}
