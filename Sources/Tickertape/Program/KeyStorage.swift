import Feeds
import Platform

/// The lock of a live feed's key and its stored attempts, if the settings and the system have folders for them. A venue
/// without a key has only attempts.
struct KeyStorage {
    let lock: KeyLock?
    let attemptStore: AttemptFile?
    private let isShared: Bool
    private let warnings: Warnings
    /// The queues for blocking file operations: the lock is mostly on a file system in memory, the attempts are on a
    /// disk.
    let lockDisk = WorkQueue("key-lock")
    private let attemptsDisk = WorkQueue("attempts")

    /// - Parameter isShared: whether other programs must not connect at the same time.
    init(
        _ settings: Settings.State,
        identity: KeyIdentity,
        isShared: Bool = true,
        environment: ProcessEnvironment = .current,
        warnings: Warnings
    ) {
        self.warnings = warnings
        self.isShared = isShared
        let folder = settings.directory.path(orAuto: environment.stateFolder)
        if folder == nil, settings.directory == .auto {
            warnings.warnOnce("attempts are not remembered over a restart: there is no HOME (state.directory)")
        }
        self.attemptStore = folder.flatMap { AttemptFile(directory: $0, identity: identity, warn: warnings.warnOnce) }
        let folders: [String] =
            switch settings.runtimeDirectory {
            case .off: []
            case .path(let path): [path]
            case .auto: environment.runtimeFolders
            }
        let isLocked = isShared && !folders.isEmpty
        self.lock = isLocked ? KeyLock(folders: folders, identity: identity, warn: warnings.warn) : nil
        // Reads the attempts before the screen starts, so that a damaged file is reported on standard error.
        _ = self.attemptStore?.load()
    }

    var holding: KeyHolding {
        let unlocked = self.isShared ? UnsharedKey() : nil
        return KeyHolding(
            ownership: self.lock ?? unlocked,
            attemptStore: self.attemptStore,
            lockDisk: self.lockDisk,
            attemptsDisk: self.attemptsDisk,
            warn: self.warnings.warn
        )
    }

    /// Writes into the lock's file that this program has no relay.
    func announceNoRelay() {
        let lock = self.lock
        self.lockDisk.submit { lock?.announce(.off) }
    }
}
