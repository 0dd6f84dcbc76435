package import Feeds
package import Logging
package import Market
package import NIOCore
package import Recordings
import Relay
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
    /// How prices are debounced, for the display and the relay alike.
    package var pipeline = PricePipeline.Settings()
    package var display = Display()
    /// Which keys of the screen do what.
    package var keys = KeyBindings()
    package var record = Record()
    package var recorder = RecorderSettings()
    package var history = History()
    package var alerts = Alerts()
    package var relay = Relay()
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
        }

        /// For what counts over a restart.
        package var directory = Folder.auto
        /// For what counts while the program runs.
        package var runtimeDirectory = Folder.auto
        /// For the service's lists of symbols, which are kept for a day.
        package var cache = Folder.auto
    }

    package struct Display: Sendable, Equatable {
        package enum Format: String, Sendable, CaseIterable {
            /// The screen when standard output is a terminal, plain lines otherwise.
            case auto
            case tui, plain, json, csv, oneline, waybar
        }

        package enum Colour: String, Sendable, CaseIterable {
            /// Colours on a terminal, unless `NO_COLOR` is set.
            case auto
            case always, never
            case sixteen = "16"
            case many = "256"
            case full
        }

        package var format = Format.auto
        /// What a line says; empty means what is usual in its format.
        package var fields: [LineField] = []
        /// Whether each symbol's price is printed once, and then the program ends ...
        package var isOnce = false
        /// ... or when that took so long.
        package var onceWithin = TimeAmount.seconds(15)
        package var colour = Colour.auto
        package var theme = DisplaySettings.Theme.auto
        package var palette = ScreenPalette.Hues.standard
        package var grouping = NumberStyle.Grouping.none
        package var decimal = NumberStyle.DecimalMark.point
        /// Whether a price that has changed stands out for a moment.
        package var flashes = true
        /// Whether the terminal's title tells the price.
        package var setsTitle = true
        /// About the most bytes a second for the terminal; 0 for any number.
        package var bytesPerSecond = 3_500
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

    package struct Relay: Sendable, Equatable {
        package enum Compression: String, Sendable, CaseIterable {
            /// On, unless the relay listens where only this machine can reach it.
            case auto
            case on, off
        }

        package enum ReplayControl: String, Sendable, CaseIterable {
            /// On where the relay listens where only this machine can reach it.
            case auto
            case on, off
        }

        /// Where to listen; `nil` is off.
        package var listen: Endpoint? = Endpoint(host: "127.0.0.1", port: 8080)
        /// The PEM files of the relay's certificate and its key; both or none.
        package var certificateFile: String?
        package var keyFile: String?
        /// The path of a socket file to listen at, beside `listen` or instead of it.
        package var unixSocket: String?
        /// Whether there is no relay at all.
        package var isOff: Bool { self.listen == nil && self.unixSocket == nil }
        /// The file that holds the token of clients.
        package var tokenFile: String?
        /// What clients must show, read from its file or from the service manager's credential.
        package var token: Secret?
        /// Further names of this machine that requests may be addressed to.
        package var hostNames: [String] = []
        package var pingInterval = TimeAmount.seconds(20)
        package var pongTimeout = TimeAmount.seconds(10)
        package var maxClients = 1_000
        /// The most connections from one address of another machine.
        package var maxClientsPerAddress = 64
        /// The most connections that are no WebSocket, beside the clients.
        package var maxPlainConnections = 100
        /// How long a request, or the next one on its connection, may take to arrive.
        package var handshakeTimeout = TimeAmount.seconds(10)
        /// The largest request line and headers, in bytes.
        package var maxHeaders = 8 << 10
        /// How many requests a client may make at once ...
        package var requestBurst = 100
        /// ... and how many more each second.
        package var requestsPerSecond = 20
        /// The most that waits for one client, in bytes.
        package var maxWaiting = 1 << 20
        /// The largest message taken from a client, in bytes.
        package var maxMessage = 64 << 10
        /// How long a symbol that no client wants any more is still asked for upstream.
        package var unsubscribeGrace = TimeAmount.seconds(10)
        /// Whether clients that ask for compressed messages get them.
        package var compression = Compression.auto
        /// Whether clients may command a replay.
        package var replayControl = ReplayControl.auto
        /// Pages that may connect; programs, which send no origin, always may.
        package var allowedOrigins: [String] = []
    }
}
