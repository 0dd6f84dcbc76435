import HTTP
import Market
import TLS
import Feeds
import Glibc
import Logging
import NIOCore
import Relay
import Testing
@testable import Tickertape

@Suite("The config file")
struct SettingsFileTests {
    private let folder = ScratchFolder()

    private func load(_ yaml: String) throws -> Settings {
        try self.load(path: self.folder.file("config.yaml", yaml))
    }

    private func load(path: String) throws -> Settings {
        var flags = GivenFlags()
        flags.configFile = path
        return try Settings.load(flags: flags, environment: [:]).settings
    }

    private func message(_ yaml: String) -> String {
        self.message { try self.load(yaml) }
    }

    private func message(_ body: () throws -> Settings) -> String {
        do {
            _ = try body()
            return "nothing was thrown"
        } catch let error as OperatorError {
            return error.status == .configuration ? error.message : "status \(error.status)"
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "a file without a value changes nothing",
        arguments: [
            "", "\n", "# nothing\n", "---\n", "{}", "relay: {}\n", "relay:\n", "relay: ~\n", "  # x\r\n\r\n",
            "---\n# x",
        ]
    )
    func empty(yaml: String) throws {
        #expect(try self.load(yaml).relay == Settings().relay)
    }

    @Test("keys may be nested or dotted, values quoted or plain")
    func forms() throws {
        #expect(try self.load("relay:\n  max-clients: 5").relay.maximumClients == 5)
        #expect(try self.load("relay.max-clients: '5'").relay.maximumClients == 5)
        #expect(try self.load("{relay: {max-clients: 1_000}}").relay.maximumClients == 1_000)
        #expect(try self.load("relay:\n  listen: 127.0.0.1:80").relay.listen == Endpoint(host: "127.0.0.1", port: 80))
        #expect(try self.load("relay:\n  listen: '[::1]:80'").relay.listen == Endpoint(host: "::1", port: 80))
    }

    @Test("words that YAML reads as other types keep their meaning")
    func wordsOfYAML() throws {
        #expect(try self.load("relay:\n  listen: off").relay.listen == nil)
        #expect(try self.load("tls:\n  verify: no").dial.tls.verification == .disabled)
        #expect(try self.load("display:\n  quiet: yes").display.isQuiet)
        #expect(try self.load("pipeline:\n  at-most: null").relay.pipeline.atMost == nil)
        #expect(try self.load("pipeline:\n  at-most: ~").relay.pipeline.atMost == nil)
        #expect(try self.load("pipeline:\n  quiet: 0").relay.pipeline.quiet == 0)
        #expect(try self.load("tls:\n  ca-file:").dial.tls.trust == .system)
        #expect(try self.load("symbols: [1, yes]").finnhub.symbols == ["1", "yes"])
    }

    @Test(
        "numbers must be whole numbers in digits",
        arguments: ["0x10", "1e3", "1.0", "-1", "'1,000'", "~", "''", "[1]", "{a: 1}"]
    )
    func notNumbers(value: String) {
        #expect(self.message("relay:\n  max-clients: \(value)").contains("relay.max-clients"))
    }

    @Test("an unknown key is named, with the one that was meant")
    func unknownKey() {
        #expect(
            self.message("relay:\n  max-client: 5").hasSuffix(
                "config.yaml:2): no such setting; did you mean relay.max-clients?"
            )
        )
        #expect(self.message("something:\n  else: 5").contains("something.else (from "))
        #expect(self.message("1: 2").contains("1 (from "))
        #expect(self.message("config: x").contains("no such setting"))
    }

    @Test("a value in a group's place is refused with the reason")
    func groupWithValue() {
        #expect(self.message("relay: 127.0.0.1:80").contains("relay (from "))
        #expect(self.message("relay: 127.0.0.1:80").contains("is a group of settings"))
    }

    @Test("a key given twice is an error in every spelling")
    func duplicates() {
        #expect(self.message("relay:\n  listen: off\n  listen: off").contains(" is given twice; put all of it"))
        #expect(
            self.message("relay:\n  listen: off\nrelay:\n  max-clients: 5").contains(" is given twice; put all of it")
        )
        #expect(self.message("relay:\n  listen: off\nrelay.listen: off").contains("relay.listen (from "))
        #expect(self.message("relay:\n  listen: off\nrelay.listen: off").contains("given twice"))
    }

    @Test(
        "invalid YAML, or YAML that is not a mapping, is reported with the file's name in one line",
        arguments: [
            "relay:\n\tlisten: off", "just words", "- a\n- b", "a: [", "a: 'x", "a: b: c", "\"\\xZZ\": 1", "? [a]\n: b",
            "*nobody: 1", "%YAML 9\n---\na: 1", "\u{1}", "a: 1\n---\nb: 2", String(repeating: "[", count: 100_000),
            String(repeating: "{a: ", count: 50_000), "? {a: b}\n: c",
        ]
    )
    func notYAML(yaml: String) {
        let message = self.message(yaml)
        #expect(
            message.hasPrefix("\(self.folder.path)/config.yaml:") || message.contains("(from \(self.folder.path)"),
            "\(message)"
        )
        #expect(!message.contains("\n"))
        #expect(message.count < 400, "\(message)")
    }

    @Test(
        "invalid YAML is reported with the problem and a hint, and without the text at its position",
        arguments: [
            ("relay:\n\tlisten: off", "config.yaml:2:1: found character that cannot start any token, while scanning"),
            ("relay:\n\tlisten: off", "; the line begins with a tab; indent it with spaces"),
            ("a: 1\nslower: [[", ": did not find expected node content, while parsing a flow node"),
            ("relay:\n  listen: off\nrelay:\n  max-clients: 1", "config.yaml: 'relay' is given twice; put all of it"),
        ]
    )
    func yamlProblems(yaml: String, words: String) {
        let message = self.message(yaml)
        #expect(message.contains(words), "\(message)")
        #expect(!message.contains("listen") && !message.contains("\n"), "\(message)")
    }

    @Test("invalid UTF-8 is an error, not a trap")
    func notText() {
        let path = self.folder.file("binary.yaml", "")
        let descriptor = open(path, O_WRONLY)
        let bytes: [UInt8] = [0x61, 0x3a, 0x20, 0xff, 0xfe, 0x00, 0x80, 0x0a]
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
        #expect(self.message { try self.load(path: path) }.hasSuffix("binary.yaml: it is not UTF-8 text"))
    }

    @Test("a named file must exist; the usual ones need not")
    func missing() throws {
        #expect(
            self.message { try self.load(path: "\(self.folder.path)/nowhere.yaml") }.contains("no such config file")
        )
        let loaded = try Settings.load(environment: ["HOME": "\(self.folder.path)/nowhere"])
        #expect(loaded.file == nil || loaded.file == "/etc/tickertape/config.yaml")
    }

    @Test("a folder, a pipe and a file that is too large are refused by name")
    func notFiles() {
        #expect(
            self.message { try self.load(path: self.folder.path) } == "\(self.folder.path): the config file is a folder"
        )
        #expect(self.message { try self.load(path: "/dev/null") }.contains("is not a regular file"))
        let large = "#" + String(repeating: "x", count: SettingsFile.limit)
        #expect(self.message(large).contains("is larger than 1048576 bytes"))
        let fifo = "\(self.folder.path)/pipe"
        #expect(mkfifo(fifo, 0o600) == 0)
        defer { unlink(fifo) }
        #expect(self.message { try self.load(path: fifo) }.contains("is not a regular file"))
    }

    @Test("a file at the limit is read")
    func atTheLimit() throws {
        let head = "log:\n  level: debug\n#"
        let yaml = head + String(repeating: "x", count: SettingsFile.limit - head.utf8.count)
        #expect(try self.load(yaml).log.level == .debug)
    }

    @Test("an unreadable file is reported with the reason", .enabled(if: geteuid() != 0, "root may read all"))
    func unreadable() {
        let path = self.folder.file("closed.yaml", "", mode: 0)
        #expect(self.message { try self.load(path: path) }.contains("Permission denied"))
    }

    @Test("the usual places are those of the XDG specification, which ignores relative folders")
    func places() {
        #expect(
            SettingsFile.usualPaths(environment: ["XDG_CONFIG_HOME": "/x", "HOME": "/h"])
                == ["/x/tickertape/config.yaml", "/etc/tickertape/config.yaml"]
        )
        #expect(
            SettingsFile.usualPaths(environment: ["XDG_CONFIG_HOME": "x", "HOME": "/h"])
                == ["/h/.config/tickertape/config.yaml", "/etc/tickertape/config.yaml"]
        )
        #expect(SettingsFile.usualPaths(environment: [:]) == ["/etc/tickertape/config.yaml"])
    }

    @Test("TICKERTAPE_CONFIG names the file, and --config wins over it")
    func named() throws {
        let first = self.folder.file("first.yaml", "relay:\n  max-clients: 1")
        let second = self.folder.file("second.yaml", "relay:\n  max-clients: 2")
        #expect(try Settings.load(environment: ["TICKERTAPE_CONFIG": first]).settings.relay.maximumClients == 1)
        var flags = GivenFlags()
        flags.configFile = second
        #expect(
            try Settings.load(flags: flags, environment: ["TICKERTAPE_CONFIG": first]).settings.relay.maximumClients
                == 2
        )
    }

    @Test("the manual holds every setting, each with its default")
    func manual() throws {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let path = "/\(root)/config/tickertape.yaml"
        let file = try #require(try SettingsFile(path: path))
        #expect(Set(file.keys) == Set(Setting.all.map(\.key)))
        #expect(file.keys.count == Setting.all.count)

        var flags = GivenFlags()
        flags.configFile = path
        let settings = try Settings.load(flags: flags, environment: [:]).settings
        for setting in Setting.all {
            #expect(setting.write(settings) == setting.write(Settings()), "\(setting.key)")
            #expect(settings.origin(of: setting.key) == .file(path))
        }
        var bare = settings
        bare.origins = [:]
        #expect(bare == Settings())
    }
}
