import NIOConcurrencyHelpers

/// The settings as a command has loaded them, and the way to load them again.
struct ReloadableSettings: Sendable {
    /// As the command uses them at the start, before the program changes them, for example by a stored watchlist.
    let settings: Settings
    /// The settings in force.
    let running: RunningSettings
    /// The config file; `nil` for none.
    let file: String?
    /// The files as they were when they were loaded; empty unless they are watched.
    let stamps: [String: FileStamp]
    /// The config file and the files that the newest loaded settings name.
    private let named: NIOLockedValueBox<[String]>
    private let source: SettingsSource
    private let prepare: @Sendable (inout Settings) -> Void

    /// - Parameter prepare: what the command changes in loaded settings before it uses them.
    init(_ loaded: LoadedSettings, prepare: @escaping @Sendable (inout Settings) -> Void = { _ in }) {
        var settings = loaded.settings
        prepare(&settings)
        self.settings = settings
        self.running = RunningSettings(settings)
        self.file = loaded.file
        self.source = loaded.source
        self.prepare = prepare
        let paths = Self.paths(loaded.file, settings)
        self.named = NIOLockedValueBox(paths)
        self.stamps = settings.watchesFiles ? Self.stamps(paths) : [:]
    }

    /// The config file and the files that the newest loaded settings name.
    var paths: [String] { self.named.withLockedValue { $0 } }

    private static func paths(_ file: String?, _ settings: Settings) -> [String] {
        let files = settings.relayFiles
        let key: String? = if case .file(let path) = settings.origin(of: .token) { path } else { nil }
        return [file, key, files.token, files.certificate, files.key, settings.alerts.webhookFile].compactMap(\.self)
    }

    /// Returns the stamps of those files that are there. Blocks on the disk.
    static func stamps(_ paths: [String]) -> [String: FileStamp] {
        paths.reduce(into: [:]) { $0[$1] = FileStamp($1) }
    }

    /// Loads the settings again, from the same flags, environment and files. Blocks on the disk.
    func load() throws(OperatorError) -> LoadedSettings {
        var loaded = try self.source.load()
        self.prepare(&loaded.settings)
        let paths = Self.paths(loaded.file, loaded.settings)
        self.named.withLockedValue { $0 = paths }
        return loaded
    }
}
