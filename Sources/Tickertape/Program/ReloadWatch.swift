import Platform
import ServiceLifecycle

/// The watch of the config file and of the files that it names, for `reload.watch`. It looks at them four times a second,
/// so it also sees a file that a new one has replaced.
struct ReloadWatch {
    private static let interval = Duration.milliseconds(250)
    /// How long the files must stay as they are before they are loaded, since an editor writes in steps.
    private static let quiet = Duration.seconds(1)

    private let reload: ProgramReload
    private let reloadable: ReloadableSettings
    private let disk = WorkQueue("reload-watch")

    /// - Returns: `nil` unless the settings ask for it.
    init?(_ reload: ProgramReload, _ reloadable: ReloadableSettings?) {
        guard let reloadable, reloadable.settings.watchesFiles else { return nil }
        self.reload = reload
        self.reloadable = reloadable
    }

    /// The service that loads the files again.
    var part: NamedService {
        NamedService("reload-watch") { try? await cancelWhenGracefulShutdown { try await self.run() } }
    }

    private func run() async throws {
        // A file may have changed since the start has read it.
        var paths = self.reloadable.paths
        var loaded = self.reloadable.stamps
        var seen = loaded
        var seenAt = ContinuousClock.now
        while true {
            try await Task.sleep(for: Self.interval)
            // A disk that does not answer shows no change.
            guard let stamps = await self.stamps(paths) else { continue }
            if stamps != seen {
                seen = stamps
                seenAt = .now
            } else if seen != loaded, ContinuousClock.now - seenAt >= Self.quiet {
                // What changes while the files are read is another change.
                loaded = seen
                await self.reload.reload("reload.watch")
                // Other files may be named now, which are no changes.
                if self.reloadable.paths != paths, let stamps = await self.stamps(self.reloadable.paths) {
                    (paths, loaded, seen) = (self.reloadable.paths, stamps, stamps)
                }
            }
        }
    }

    /// Returns the stamps of files; `nil` if the disk does not answer.
    private func stamps(_ paths: [String]) async -> [String: FileStamp]? {
        await self.disk.answer(within: .seconds(2)) { ReloadableSettings.stamps(paths) }
    }
}
