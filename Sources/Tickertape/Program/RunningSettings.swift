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
                }
            }
        }
    }
}

extension Setting {
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
