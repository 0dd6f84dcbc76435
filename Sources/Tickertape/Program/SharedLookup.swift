import Feeds
import NIOConcurrencyHelpers
import Relay
import TLS
import Wire

/// The lookup of a program, which its screen and its relay share.
///
/// It is made when it is first needed, because reading the trust roots takes time and memory.
final class SharedLookup: Sendable {
    private let make: @Sendable () throws(OperatorError) -> ServiceLookup
    private let state = NIOLockedValueBox(State())

    private struct State {
        var made: Result<ServiceLookup, OperatorError>?
        /// The key that has taken the place of the settings' one.
        var key: Secret?
    }

    init(_ make: @escaping @Sendable () throws(OperatorError) -> ServiceLookup) { self.make = make }

    /// Returns the lookup, or the reason why the settings do not allow one.
    func get() -> Result<ServiceLookup, OperatorError> {
        self.state.withLockedValue { state -> Result<ServiceLookup, OperatorError> in
            if let known = state.made { return known }
            let new = Result { () throws(OperatorError) in try self.make() }
            if let key = state.key, case .success(let lookup) = new { lookup.keyChanged(to: key) }
            state.made = new
            return new
        }
    }

    /// Uses another key from the next request on.
    func keyChanged(to key: Secret) {
        self.state.withLockedValue { state in
            state.key = key
            if case .success(let lookup) = state.made { lookup.keyChanged(to: key) }
        }
    }

    /// Returns the directory for the relay's clients, who do not learn what is wrong with the settings.
    fileprivate func directory() -> Result<ServiceDirectory, ServiceFailure> {
        self.get().map { $0.directory }.mapError { _ in
            ServiceFailure(
                .unreachable,
                "the settings of the relay's program do not let it ask the service",
                cure: "run `tickertape news` with the same settings, which names the fault"
            )
        }
    }
}

extension RelayDirectory {
    /// Makes the directory of a relay, which asks as the program's screen does.
    init(_ lookup: SharedLookup) {
        self.init(
            headlines: { query in
                switch lookup.directory() {
                case .failure(let failure): return .failure(failure)
                case .success(let directory): return await directory.headlines(query)
                }
            },
            symbols: { query in
                switch lookup.directory() {
                case .failure(let failure): return .failure(failure)
                case .success(let directory): return await directory.symbols(query, isFromClient: true)
                }
            },
            wallClock: WallClock.now
        )
    }
}
