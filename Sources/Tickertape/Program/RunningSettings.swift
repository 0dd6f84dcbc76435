import NIOConcurrencyHelpers
import NIOCore
import Wire

/// The settings in force in a running program, as far as they come from flags, environment and files. May be used on any
/// thread.
final class RunningSettings: Sendable {
    private let value: NIOLockedValueBox<Settings>

    init(_ settings: Settings) { self.value = NIOLockedValueBox(settings) }

    var settings: Settings {
        get { self.value.withLockedValue { $0 } }
        set { self.value.withLockedValue { $0 = newValue } }
    }

    /// Returns ``body``, for the relay.
    var showing: @Sendable () -> ByteBuffer { { self.body } }

    /// The body of `/v1/settings`: a list of all settings with their values and origins. A secret is shown as set or not.
    var body: ByteBuffer {
        let settings = self.settings
        return JSONWriter.array { out in
            for setting in Setting.all {
                out.element { out in
                    out.field("key", setting.key)
                    out.field("value", setting.shown(settings))
                    out.field("origin", "\(settings.origin(of: setting))")
                    out.field("layer", settings.origin(of: setting).layer)
                    out.field("reload", setting.isReloadable)
                    if let path = setting.path(in: settings) { out.field("path", path) }
                }
            }
        }
    }
}

extension Settings {
    /// The absolute path of the folder in which recordings are made.
    var recordingFolder: String {
        FilePath.absolute(self.record.file.map { FilePath.folder(of: $0) } ?? self.record.directory)
    }
}

extension Setting {
    /// Returns the absolute path that ``Settings/recordingFolder`` comes from: other programs have another working
    /// directory. `nil` for a setting without a path.
    fileprivate func path(in settings: Settings) -> String? {
        switch self.key {
        case Setting.recordFile.key: settings.record.file.map { FilePath.absolute($0) }
        case Setting.recordDirectory.key: FilePath.absolute(settings.record.directory)
        default: nil
        }
    }

    /// Returns the value for people; of a secret only whether there is one.
    func shown(_ settings: Settings) -> String {
        guard self.isSecret else { return self.write(settings) }
        return self.write(settings) != "none" ? "set" : "not set"
    }
}

extension Origin {
    /// The layer as a word for programs.
    var layer: String {
        switch self {
        case .builtIn: "default"
        case .file: "file"
        case .environment: "environment"
        case .flag: "flag"
        }
    }
}
