import TickertapeTesting

extension RunningProgram {
    /// Whether the program says that it is connected to another's relay and has no trade of its own yet.
    ///
    /// "Waiting" is the word for that, and "late" where the other one's last trade is more than 5 s old by then, as it is on a
    /// slow machine.
    func follows(relay place: String) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for word in ["waiting", "late"] {
                group.addTask { await self.complains(of: "\(word) by the relay at \(place)") }
            }
            let isSaid = await group.next() ?? false
            group.cancelAll()
            return isSaid
        }
    }
}
