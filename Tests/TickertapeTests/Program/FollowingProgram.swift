import TickertapeTesting

extension RunningProgram {
    /// Whether the program says that it is connected to another's relay and has no trade of its own yet.
    ///
    /// "Waiting" is the word for that, and "late" where the other one's last trade is more than 5 s old by then, as it is on a
    /// slow machine.
    func follows(relay place: String) async -> Bool {
        await self.printsError(ofAny: ["waiting by the relay at \(place)", "late by the relay at \(place)"])
    }

    /// Whether the program says one of these on standard error.
    func printsError(ofAny texts: [String]) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for text in texts { group.addTask { await self.printsError(of: text) } }
            let isSaid = await group.next() ?? false
            group.cancelAll()
            return isSaid
        }
    }
}
