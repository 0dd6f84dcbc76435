package import TLS
package import Feeds
package import Logging
package import NIOCore
package import Recordings
package import Relay
package import Terminal

/// Everything that a person can choose, as values; the initial ones are the defaults.
///
/// ``Setting/all`` says for each how it is named, written and explained.
package struct Settings: Sendable, Equatable {
    /// Finnhub's key; without one the bundled recording is shown.
    package var token: Secret?
    /// The file that holds the key.
    package var tokenFile: String?
    /// The feed of the market, with what to follow, in the order of the display.
    package var finnhub = FinnhubSettings.Options()
    /// What to do when the service does not accept the key.
    package var rejectedKey = RejectedKey.auto
    /// Finnhub's REST service: symbols by name, and headlines.
    package var service = ServiceSettings()
    /// How all of these are reached.
    package var dial = DialSettings()
    package var proxyChoice = ProxyChoice.auto
    package var state = State()
    package var display = Display()
    /// How the screen looks.
    package var screen = DisplaySettings()
    /// Which keys of the screen do what.
    package var keys = KeyBindings()
    package var record = Record()
    package var recorder = RecorderSettings()
    package var history = History()
    package var alerts = Alerts()
    package var relay = RelaySettings()
    package var relayFiles = RelayFiles()
    /// What clients must show, read from its file or from the service manager's credential.
    package var relayToken: Secret?
    package var logLevel = Logger.Level.info

    /// What the environment says of proxies, for ``ProxyChoice/auto``.
    package var proxyVariables = ProxyVariables()

    /// Where each setting that is not the default came from, by key.
    package var origins: [String: Origin] = [:]

    package init() {}

    /// Where the value of a setting came from; safe from misspelt keys.
    package func origin(of setting: Setting) -> Origin { self.origin(of: setting.key) }

    /// Where the value of a key came from.
    package func origin(of key: String) -> Origin { self.origins[key] ?? .builtIn }

    /// What to do when the service does not accept the key.
    package enum RejectedKey: Sendable, Equatable {
        /// End where a person sees it; a service looks again after a quarter of an hour.
        case auto
        case stop
        case retry(TimeAmount)
    }

    /// Where the program keeps what other runs of it must know.
    package struct State: Sendable, Equatable {
        package enum Folder: Sendable, Equatable {
            /// Where this system has such things.
            case auto
            case off
            case path(String)

            /// The folder in force.
            ///
            /// - Parameter system: where this system has such things; `nil` where it names no place.
            func path(orAuto system: String?) -> String? {
                switch self {
                case .off: nil
                case .path(let path): path
                case .auto: system
                }
            }
        }

        /// For what counts over a restart.
        package var directory = Folder.auto
        /// For what counts while the program runs.
        package var runtimeDirectory = Folder.auto
        /// For the service's lists of symbols, which are kept for a day.
        package var cache = Folder.auto
    }

    package struct Display: Sendable, Equatable {
        /// The screen when standard output is a terminal, plain lines otherwise, where it is `nil`.
        package var format: OutputFormat?
        /// What a line says; empty means what is usual in its format.
        package var fields: [LineField] = []
        /// Whether each symbol's price is printed once, and then the program ends ...
        package var isOnce = false
        /// ... or when that took so long.
        package var onceWithin = TimeAmount.seconds(15)
        /// Whether nothing is shown.
        package var isQuiet = false
        /// Whether symbols that were added and removed at the screen are so after the next start.
        package var keepsWatchlist = true
    }

    package struct Record: Sendable, Equatable {
        /// The file to write.
        package var file: String?
        /// Where `tickertape record` makes a file of its own naming.
        package var directory = "."
    }

    package struct History: Sendable, Equatable {
        /// The database: a path, `auto` for one beside the recording, or `off`.
        package var file = "auto"
    }

    /// The files of the relay's secrets.
    package struct RelayFiles: Sendable, Equatable {
        /// The PEM files of the relay's certificate and its key; both or none.
        package var certificate: String?
        package var key: String?
        /// The file that holds the token of clients.
        package var token: String?
    }
}
