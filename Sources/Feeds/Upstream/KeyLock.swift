import Glibc
import NIOConcurrencyHelpers
import Platform

/// A key's lock: a file in the runtime directory, named by a hash of the key, under an exclusive `flock(2)`.
///
/// The kernel releases the lock when the program ends in any way. The file itself stays; its content counts only while
/// a program holds the lock. Without a usable directory every program may use the key, after a warning.
///
/// All methods may wait for the disk, so they belong on a ``DiskWorker``. The content need not survive a power cut.
package final class KeyLock: KeyOwnership {
    private struct Held {
        var descriptor: Int32
        var device: dev_t
        var node: ino_t
    }

    private struct State {
        var held: Held?
        var relay = KeyOwner.Relay.unknown
        /// The last owner that could be determined.
        var newest: KeyClaim?
    }

    /// Errors that say nothing about the lock: this program or the system is short of a resource for the moment.
    private static let shortages = [EMFILE, ENFILE, ENOMEM, ENOLCK, EINTR]

    /// The largest content that is read, in bytes; ours is smaller.
    private static let limit = 1_024

    private let folders: [String]
    private let name: String
    private let warning: WarnOnce
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - folders: the possible folders; the first usable one is used.
    ///   - warn: takes a warning of one line.
    package init(folders: [String], identity: KeyIdentity, warn: @escaping @Sendable (String) -> Void) {
        self.folders = folders
        self.name = "\(identity.name).lock"
        self.warning = WarnOnce(warn)
    }

    deinit { self.release() }

    package func claim() -> KeyClaim {
        self.state.withLockedValue { state in
            if let held = state.held, Self.isStill(held, at: self.usedFolder, name: self.name) { return .mine }
            // The lock is not held, or its file was removed; another program may hold the lock of a new file by now.
            let locking = self.lock()
            // A program without free descriptors must not take the key for free and displace its owner.
            if case .unavailable(_, let code) = locking, let newest = state.newest, Self.shortages.contains(code) {
                return newest
            }
            switch locking {
            case .unavailable(let reason, _):
                self.warning.notify(
                    "a second tickertape with this key would not be noticed: \(reason) (state.runtime-directory)"
                )
                return .mine
            case .others(let owner):
                if let held = state.held { close(held.descriptor) }
                state.held = nil
                state.newest = .others(owner)
                return .others(owner)
            case .mine(let descriptor, let device, let node):
                if let held = state.held { close(held.descriptor) }
                state.held = Held(descriptor: descriptor, device: device, node: node)
                Self.notify(state.relay, in: descriptor)
                state.newest = .mine
                return .mine
            }
        }
    }

    /// Announces where other programs can get the trades. They read it while this program holds the key.
    package func announce(_ relay: KeyOwner.Relay) {
        self.state.withLockedValue { state in
            state.relay = relay
            if let held = state.held { Self.notify(relay, in: held.descriptor) }
        }
    }

    package func release() {
        self.state.withLockedValue { state in
            guard let held = state.held else { return }
            state.held = nil
            state.newest = nil
            ftruncate(held.descriptor, 0)
            close(held.descriptor)
        }
    }

    // MARK: The file

    private enum Locking {
        case mine(descriptor: Int32, device: dev_t, node: ino_t)
        case others(KeyOwner?)
        /// A reason for people, and the system's error code if there is one.
        case unavailable(String, code: Int32 = 0)
    }

    /// The first usable folder. It is created again if it is missing, since the end of a login session may remove it.
    private var usedFolder: String? {
        self.folders.first { (try? PrivateFolder($0)) != nil }
    }

    private func lock() -> Locking {
        guard let folder = self.usedFolder else {
            var reason = "no runtime directory"
            if let last = self.folders.last {
                do throws(PrivateFolder.Failure) { _ = try PrivateFolder(last) } catch { reason = error.reason }
            }
            return .unavailable(reason)
        }
        let path = "\(folder)/\(self.name)"
        // The file can be removed between opening and locking, so a few attempts are made.
        for _ in 0..<8 {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else {
                let code = errno
                return .unavailable("\(path): \(String(cString: strerror(code)))", code: code)
            }
            var information = stat()
            guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
                information.st_uid == geteuid()
            else {
                close(descriptor)
                return .unavailable("\(path) is not a file of this user")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let reason = errno
                defer { close(descriptor) }
                guard reason == EWOULDBLOCK else {
                    return .unavailable("\(path): \(String(cString: strerror(reason)))", code: reason)
                }
                let text = try? PrivateFolder.text(of: descriptor, limit: Self.limit)
                return .others(text.flatMap { KeyOwner(text: $0) })
            }
            let held = Held(descriptor: descriptor, device: information.st_dev, node: information.st_ino)
            if Self.isStill(held, at: folder, name: self.name) {
                return .mine(descriptor: descriptor, device: held.device, node: held.node)
            }
            close(descriptor)
        }
        return .unavailable("\(path) does not stay")
    }

    private static func isStill(_ held: Held, at folder: String?, name: String) -> Bool {
        guard let folder else { return false }
        var information = stat()
        return lstat("\(folder)/\(name)", &information) == 0 && information.st_dev == held.device
            && information.st_ino == held.node
    }

    private static func notify(_ relay: KeyOwner.Relay, in descriptor: Int32) {
        ftruncate(descriptor, 0)
        lseek(descriptor, 0, SEEK_SET)
        _ = DurableFile.append(KeyOwner(pid: getpid(), relay: relay).text, to: descriptor)
    }
}
