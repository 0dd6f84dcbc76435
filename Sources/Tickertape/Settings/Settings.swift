package import TLS
package import Feeds
package import NIOCore
package import Recordings
package import Relay
package import Terminal

/// Every setting of the program. The initial values are the defaults.
///
/// ``Setting/all`` declares the name, the syntax and the explanation of each.
package struct Settings: Sendable, Equatable {
    /// Finnhub's key. Without a key, the program plays the bundled recording.
    package var token: Secret?
    /// The file that holds the key.
    package var tokenFile: String?
    /// The folder with a file for each secret.
    package var secretsDirectory: String?
    /// The market feed, with the followed symbols in display order.
    package var finnhub = FeedSettings.finnhub
    /// Whether Finnhub's trades are compared with those of their venues.
    package var auditsFinnhub = false
    /// Whether the gaps in Finnhub's trades are filled from the exchanges' own, which are compared for that.
    package var fillsFinnhub = false
    /// Where the trades of a symbol come from, unless the symbol's text says so itself.
    package var from = FeedChoice.auto
    /// The addresses of the exchanges' own feeds.
    package var venues = AllVenueAddresses()
    /// The reaction to a key that the service rejects.
    package var rejectedKey = RejectedKey.auto
    /// Finnhub's REST service: symbols by name, and headlines.
    package var service = ServiceSettings()
    /// The connections to all of these.
    package var dial = DialSettings()
    package var proxyChoice = ProxyChoice.auto
    package var state = State()
    package var display = Display()
    /// How the screen looks.
    package var screen = DisplaySettings()
    package var holdings = HoldingChoice()
    /// The key bindings of the screen.
    package var keys = KeyBindings()
    package var record = Record()
    package var recorder = RecorderSettings()
    package var history = History()
    package var alerts = Alerts()
    package var cluster = ClusterChoice()
    package var relay = RelaySettings()
    package var relayFiles = RelayFiles()
    /// The token that clients must send, read from its file or from the service manager's credential.
    package var relayToken: Secret?
    package var log = LogSettings()
    /// Whether a changed file is loaded again without a signal.
    package var watchesFiles = false

    /// The proxy variables of the environment, for ``ProxyChoice/auto``.
    package var proxyVariables = ProxyVariables()

    /// The origin of each setting that is not the default, by key.
    package var origins: [String: Origin] = [:]

    package init() {}

    /// Returns the origin of a setting's value; the declared setting rules out a misspelt key.
    package func origin(of setting: Setting) -> Origin { self.origin(of: setting.key) }

    /// Returns the origin of a key's value.
    package func origin(of key: String) -> Origin { self.origins[key] ?? .builtIn }

    /// The reaction to a key that the service rejects.
    package enum RejectedKey: Sendable, Equatable {
        /// Ends the program at a terminal; in a service, retries after a quarter of an hour.
        case auto
        case stop
        case retry(TimeAmount)
    }

    /// The places of the state that other runs of the program read.
    package struct State: Sendable, Equatable {
        package enum Folder: Sendable, Equatable {
            /// The system's usual folder.
            case auto
            case off
            case path(String)

            /// Returns the folder in force.
            ///
            /// - Parameter system: the system's usual folder; `nil` where it defines none.
            func path(orAuto system: String?) -> String? {
                switch self {
                case .off: nil
                case .path(let path): path
                case .auto: system
                }
            }
        }

        /// For state that survives a restart.
        package var directory = Folder.auto
        /// For state that is valid while the program runs.
        package var runtimeDirectory = Folder.auto
        /// For the service's lists of symbols, which are kept for a day.
        package var cache = Folder.auto
    }

    package struct Display: Sendable, Equatable {
        /// The chosen format; `nil` means the screen when standard output is a terminal, else plain lines.
        package var format: OutputFormat?
        /// The fields of a line; empty means the format's usual ones.
        package var fields: [LineField] = []
        /// Whether the program prints each symbol's price once, and then ends.
        package var isOnce = false
        /// The time after which such a program ends without the missing prices.
        package var onceWithin = TimeAmount.seconds(15)
        /// How long a status bar's line shows one symbol before the next; `nil` to show all together.
        package var rotation: TimeAmount?
        /// Whether the program shows nothing.
        package var isQuiet = false
        /// Whether symbols that were added or removed at the screen stay so after a restart.
        package var keepsWatchlist = true
    }

    package struct Record: Sendable, Equatable {
        /// The file to write.
        package var file: String?
        /// The folder in which `tickertape record` creates a file when it is given no name.
        package var directory = "."
    }

    package struct History: Sendable, Equatable {
        /// The database: a path, `auto` for one beside the recording, or `off`.
        package var file = "auto"
    }

    /// The files of the relay's secrets.
    package struct RelayFiles: Sendable, Equatable {
        /// The PEM files of the relay's certificate and its key; both or neither.
        package var certificate: String?
        package var key: String?
        /// The file that holds the clients' token.
        package var token: String?
    }
}
