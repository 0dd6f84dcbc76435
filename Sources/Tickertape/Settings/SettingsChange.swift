/// The settings that differ between the ones in force and others, by what makes them take effect.
struct SettingsChange {
    /// Those that a reload applies.
    let reloadable: [Setting]
    /// Those that need a restart.
    let restart: [Setting]

    /// - Parameter isReloadable: whether this program can apply a setting that a reload may apply.
    init(from old: Settings, to new: Settings, isReloadable: (Setting) -> Bool = { _ in true }) {
        let changed = Setting.all.filter { !$0.isSame(old, new) }
        self.reloadable = changed.filter { $0.isReloadable && isReloadable($0) }
        self.restart = changed.filter { !($0.isReloadable && isReloadable($0)) }
    }

    /// Whether a reload applies one of these settings.
    func applies(_ settings: Setting...) -> Bool {
        self.reloadable.contains { setting in settings.contains { $0.key == setting.key } }
    }
}

extension Settings {
    /// Takes the values of other settings for some keys, with their origins.
    mutating func take(_ settings: [Setting], from other: Settings) {
        for setting in settings {
            setting.copy(&self, other)
            self.origins[setting.key] = other.origins[setting.key]
        }
    }
}
