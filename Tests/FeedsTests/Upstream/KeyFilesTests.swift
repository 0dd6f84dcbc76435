import TLS
import Feeds
import Glibc
import NIOConcurrencyHelpers
import Testing
import TickertapeTesting

/// The warnings that were given.
private final class Warnings: Sendable {
    private let state = NIOLockedValueBox<[String]>([])
    var texts: [String] { self.state.withLockedValue { $0 } }
    var take: @Sendable (String) -> Void { { text in self.state.withLockedValue { $0.append(text) } } }
}

private func identity(_ key: String = "a key that is long enough", host: String = "ws.finnhub.io") -> KeyIdentity {
    KeyIdentity(key: Secret(key), upstream: UpstreamAddress(isEncrypted: true, host: host, port: 443))
}

private func mode(of path: String) -> mode_t {
    var information = stat()
    return lstat(path, &information) == 0 ? information.st_mode & 0o7777 : 0
}

@Suite("The name of a key")
struct KeyIdentityTests {
    @Test("distinguishes keys and services, reveals nothing of the key, and never changes")
    func names() {
        let name = identity().name
        #expect(name.utf8.count == 32)
        #expect(name.allSatisfy { $0.isHexDigit })
        #expect(name == identity().name)
        #expect(identity("another key").name != name)
        #expect(identity(host: "127.0.0.1").name != name)
        #expect(identity(host: "WS.finnhub.io").name == name)
    }
}

@Suite("The file of attempts")
struct AttemptFileTests {
    private let memory = SavedBackoff(
        failures: 2,
        refusals: 0,
        briefLives: 0,
        kind: .reconnecting,
        at: 5,
        wait: 6,
        reason: nil
    )

    @Test("keeps what was saved, in a folder and a file that are this user's alone, until it is cleared")
    func keeps() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let warnings = Warnings()
        let path = "\(folder.path)/a/b/tickertape"
        let file = try #require(AttemptFile(directory: path, identity: identity(), warn: warnings.take))
        #expect(file.load() == nil)
        file.save(self.memory)
        #expect(AttemptFile(directory: path, identity: identity(), warn: warnings.take)?.load() == self.memory)
        #expect(AttemptFile(directory: path, identity: identity("other"), warn: warnings.take)?.load() == nil)
        #expect(mode(of: path) == 0o700)
        #expect(mode(of: "\(path)/\(identity().name).attempts") == 0o600)
        file.clear()
        #expect(file.load() == nil)
        #expect(warnings.texts.isEmpty)
    }

    @Test("replaces a file that is damaged, huge, binary, of another version or a link, with one warning that names it")
    func damaged() throws {
        for contents in ["garbage", String(repeating: "x", count: 1 << 20), "\0\0", "tickertape-attempts 9\n", ""] {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let name = "\(identity().name).attempts"
            _ = try folder.write(contents, to: name)
            let warnings = Warnings()
            let file = try #require(AttemptFile(directory: folder.path, identity: identity(), warn: warnings.take))
            #expect(file.load() == nil)
            #expect(file.load() == nil)
            #expect(warnings.texts.count == 1)
            #expect(warnings.texts.first?.contains("\(folder.path)/\(name)") == true)
            file.save(self.memory)
            #expect(file.load() == self.memory)
        }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let target = try folder.write(self.memory.text, to: "elsewhere")
        let path = "\(folder.path)/\(identity().name).attempts"
        #expect(symlink(target, path) == 0)
        let warnings = Warnings()
        let file = try #require(AttemptFile(directory: folder.path, identity: identity(), warn: warnings.take))
        #expect(file.load() == nil)
        #expect(warnings.texts.count == 1)
        var other = self.memory
        other.failures = 9
        file.save(other)
        #expect(file.load() == other)
        // The target of the link is untouched.
        #expect(try folder.read("elsewhere") == self.memory.text)
    }

    @Test("is left out with one warning if there is no folder for it")
    func noFolder() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let blocker = try folder.write("", to: "file")
        let open = "\(folder.path)/open"
        mkdir(open, 0o700)
        chmod(open, 0o777)
        let link = "\(folder.path)/link"
        symlink(folder.path, link)
        for path in ["\(blocker)/tickertape", blocker, open, link, "/proc/tickertape"] {
            let warnings = Warnings()
            #expect(AttemptFile(directory: path, identity: identity(), warn: warnings.take) == nil, "\(path)")
            #expect(warnings.texts.count == 1)
            #expect(warnings.texts.first?.contains("state.directory") == true)
        }
    }

    @Test("warns once when it can no longer write")
    func unwritable() throws {
        let folder = try TemporaryFolder()
        let warnings = Warnings()
        let file = try #require(AttemptFile(directory: folder.path, identity: identity(), warn: warnings.take))
        folder.remove()
        file.save(self.memory)
        file.save(self.memory)
        #expect(warnings.texts.count == 1)
        #expect(warnings.texts.first?.contains("cannot be written") == true)
    }
}

@Suite("The lock of a key")
struct KeyLockTests {
    private static let relay = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 8_080)

    private func lock(_ folder: String, _ warnings: Warnings = Warnings()) -> KeyLock {
        KeyLock(folders: [folder], identity: identity(), warn: warnings.take)
    }

    @Test("has one owner at a time, announces its relay, and is free after its release")
    func passesOn() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (first, second) = (self.lock(folder.path), self.lock(folder.path))
        #expect(first.claim() == .mine)
        #expect(second.claim() == .others(KeyOwner(pid: getpid(), relay: .unknown)))
        first.announce(.at(Self.relay))
        #expect(second.claim() == .others(KeyOwner(pid: getpid(), relay: .at(Self.relay))))
        #expect(first.claim() == .mine)
        second.announce(.off)
        #expect(second.claim() == .others(KeyOwner(pid: getpid(), relay: .at(Self.relay))))
        first.release()
        #expect(second.claim() == .mine)
        #expect(first.claim() == .others(KeyOwner(pid: getpid(), relay: .off)))
        #expect(mode(of: "\(folder.path)/\(identity().name).lock") == 0o600)
        #expect(KeyLock(folders: [folder.path], identity: identity("other"), warn: { _ in }).claim() == .mine)
    }

    @Test("has one owner when many programs claim it at once")
    func race() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let locks = (0..<50).map { _ in self.lock(folder.path) }
        let winners = await withTaskGroup(of: Bool.self) { group in
            for lock in locks { group.addTask { lock.claim() == .mine } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(winners == 1)
    }

    @Test("is taken again when its file or folder is deleted, unless another program was quicker")
    func deleted() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/run"
        let warnings = Warnings()
        let (first, second) = (self.lock(path, warnings), self.lock(path, warnings))
        #expect(first.claim() == .mine)
        first.announce(.at(Self.relay))
        unlink("\(path)/\(identity().name).lock")
        #expect(first.claim() == .mine)
        #expect(second.claim() == .others(KeyOwner(pid: getpid(), relay: .at(Self.relay))))
        unlink("\(path)/\(identity().name).lock")
        #expect(rmdir(path) == 0)
        #expect(second.claim() == .mine)
        #expect(first.claim() == .others(KeyOwner(pid: getpid(), relay: .unknown)))
        #expect(warnings.texts.isEmpty)
    }

    @Test("is free for all programs, with one warning, if no folder is safe")
    func unsafeFolder() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let link = "\(folder.path)/link"
        symlink("/tmp", link)
        let open = "\(folder.path)/open"
        mkdir(open, 0o700)
        chmod(open, 0o777)
        for path in [link, open, "/proc/tickertape", try folder.write("", to: "file")] {
            let warnings = Warnings()
            let lock = self.lock(path, warnings)
            #expect(lock.claim() == .mine)
            #expect(lock.claim() == .mine)
            #expect(warnings.texts.count == 1, "\(path)")
        }
        let warnings = Warnings()
        let lock = KeyLock(folders: [open, folder.path], identity: identity(), warn: warnings.take)
        #expect(lock.claim() == .mine)
        #expect(self.lock(folder.path).claim() != .mine)
        #expect(warnings.texts.isEmpty)
    }

    /// In a process of its own, because the limit applies to the whole process.
    @Test("stays with its owner when there is no descriptor left to check it")
    func shortage() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let locks = (0..<2).map { _ in KeyLock(folders: [folder.path], identity: identity(), warn: { _ in }) }
            let before = locks.map { $0.claim() }
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let usual = limit.rlim_cur
            limit.rlim_cur = 3
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let meanwhile = locks.map { $0.claim() }
            limit.rlim_cur = usual
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let after = locks.map { $0.claim() }
            folder.remove()
            exit(before[0] == .mine && before[1] != .mine && meanwhile == before && after == before ? 0 : 1)
        }
    }

    @Test("ignores a file of another type, or with other content")
    func hostile() throws {
        for text in [
            "", "pid=1", "pid=0\n", "pid=-1\nrelay=off\n", "pid=1\nrelay=on\n",
            "pid=1\nrelay=on\nhost=10.0.0.1\nport=80\n",
            "pid=1\nrelay=on\nhost=127.0.0.1.example.org\nport=80\n", "pid=1\nrelay=on\nhost=127.0.0.1\nport=0\n",
            "pid=1\nrelay=on\nhost=127.0.0.1\nport=99999\n", "pid=1\nrelay=maybe\n", "\0\n", "garbage\n",
        ] { #expect(KeyOwner(text: text) == nil, "\(text)") }
        for relay: KeyOwner.Relay in [
            .unknown, .off, .at(Self.relay), .at(UpstreamAddress(isEncrypted: false, host: "::1", port: 1)),
            .at(UpstreamAddress(isEncrypted: false, host: "LocalHost", port: 1)),
            .at(UpstreamAddress(isEncrypted: false, host: "0:0:0:0:0:0:0:1", port: 1)),
            .at(UpstreamAddress(isEncrypted: true, host: "127.0.0.1", port: 1)),
        ] {
            let owner = KeyOwner(pid: 77, relay: relay)
            #expect(KeyOwner(text: owner.text) == owner)
        }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/\(identity().name).lock"
        symlink(try folder.write("precious", to: "target"), path)
        let warnings = Warnings()
        #expect(self.lock(folder.path, warnings).claim() == .mine)
        #expect(warnings.texts.count == 1)
        #expect(try folder.read("target") == "precious")
        unlink(path)
        mkfifo(path, 0o600)
        #expect(self.lock(folder.path, warnings).claim() == .mine)
    }
}
