/// The symbols alone, for commands without a connection to the service.
struct SymbolFlags: SettingFlags {
    var symbols: [String]

    func add(to flags: inout GivenFlags) {
        if !self.symbols.isEmpty { flags.add(.symbols, self.symbols, flag: "--symbol") }
    }
}
